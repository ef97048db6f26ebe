#!/usr/bin/env bash
# Tests the MCP server with clients nobody here wrote.
#
#   scripts/mcp-clients.sh                       build, then test `target/debug/benthic-mirror serve --demo`
#   scripts/mcp-clients.sh BIN [ARGS...]         test another binary or other arguments
#
# The clients are installed into a virtual environment under target/. Where Python 3.10 or the packages can't be had the
# script says so and exits 77; with BENTHIC_REQUIRE_MCP_CLIENTS=1 that is a failure.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clients=$root/tests/mcp/clients
target=${CARGO_TARGET_DIR:-$root/target}
environment=$target/mcp-clients

cannot() {
  echo "SKIPPED: MCP clients: $*" >&2
  [ "${BENTHIC_REQUIRE_MCP_CLIENTS:-}" != 1 ] || exit 1
  exit 77
}

python=
for candidate in python3 python3.13 python3.12 python3.11 python3.10; do
  if command -v "$candidate" >/dev/null 2>&1 &&
    "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || cannot "no Python 3.10 or newer with venv (Debian: python3-venv)"

# Installed once per list of requirements.
stamp=$environment/installed
if ! cmp -s "$clients/requirements.txt" "$stamp"; then
  rm -rf "$environment"
  mkdir -p "$target"
  echo "mcp-clients: installing $(grep -v '^#' "$clients/requirements.txt" | paste -sd ' ' -) into $environment"
  "$python" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$clients/requirements.txt" ||
    cannot "the packages in tests/mcp/clients/requirements.txt couldn't be installed"
  cp "$clients/requirements.txt" "$stamp"
fi

if [ $# -eq 0 ]; then
  (cd "$root" && cargo build --locked)
  set -- "$target/debug/benthic-mirror" serve --demo
fi
[ -x "$1" ] || { echo "mcp-clients: $1 is not an executable file" >&2; exit 1; }
exec "$environment/bin/python" "$clients/python_sdk.py" "$@"
