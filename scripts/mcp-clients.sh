#!/usr/bin/env bash
# Tests the MCP server with clients nobody here wrote: the Python SDK, and both generations of the TypeScript SDK.
#
#   scripts/mcp-clients.sh                       build, then test `target/debug/benthic-mirror serve --demo`
#   scripts/mcp-clients.sh BIN [ARGS...]         test another binary or other arguments
#
# The clients are installed under target/. Where Python 3.10, Node 20 or the packages can't be had the script says so and
# exits 77 after running the others; with BENTHIC_REQUIRE_MCP_CLIENTS=1 that is a failure.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clients=$root/tests/mcp/clients
target=${CARGO_TARGET_DIR:-$root/target}
skipped=0

cannot() {
  echo "SKIPPED: MCP clients: $*" >&2
  [ "${BENTHIC_REQUIRE_MCP_CLIENTS:-}" != 1 ] || exit 1
  skipped=1
}

# Python: installed once per list of requirements.
python_environment=$target/mcp-clients
prepare_python() {
  local python= candidate stamp=$python_environment/installed
  for candidate in python3 python3.13 python3.12 python3.11 python3.10; do
    if command -v "$candidate" >/dev/null 2>&1 &&
      "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
      python=$candidate
      break
    fi
  done
  [ -n "$python" ] || { cannot "no Python 3.10 or newer with venv (Debian: python3-venv)"; return 1; }
  cmp -s "$clients/requirements.txt" "$stamp" && return
  rm -rf "$python_environment"
  mkdir -p "$target"
  echo "mcp-clients: installing $(grep -v '^#' "$clients/requirements.txt" | paste -sd ' ' -) into $python_environment"
  "$python" -m venv "$python_environment"
  "$python_environment/bin/pip" install --quiet --disable-pip-version-check -r "$clients/requirements.txt" ||
    { cannot "the packages in tests/mcp/clients/requirements.txt couldn't be installed"; return 1; }
  cp "$clients/requirements.txt" "$stamp"
}

# TypeScript: the script is copied beside its packages, where Node looks for them.
node_environment=$target/mcp-clients-node
prepare_node() {
  local stamp=$node_environment/installed
  if ! command -v npm >/dev/null 2>&1 ||
    ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' >/dev/null 2>&1; then
    cannot "no Node 20 or newer with npm"
    return 1
  fi
  if ! cmp -s "$clients/package.json" "$stamp"; then
    rm -rf "$node_environment"
    mkdir -p "$node_environment"
    cp "$clients/package.json" "$node_environment/"
    echo "mcp-clients: installing the packages of tests/mcp/clients/package.json into $node_environment"
    (cd "$node_environment" && npm install --silent --no-audit --no-fund --ignore-scripts) ||
      { cannot "the packages in tests/mcp/clients/package.json couldn't be installed"; return 1; }
    cp "$clients/package.json" "$stamp"
  fi
  cp "$clients/typescript_sdk.mjs" "$node_environment/"
}

if [ $# -eq 0 ]; then
  (cd "$root" && cargo build --locked)
  set -- "$target/debug/benthic-mirror" serve --demo
fi
[ -x "$1" ] || { echo "mcp-clients: $1 is not an executable file" >&2; exit 1; }

if prepare_python; then
  "$python_environment/bin/python" "$clients/python_sdk.py" "$@"
fi
if prepare_node; then
  node "$node_environment/typescript_sdk.mjs" "$@"
fi
[ "$skipped" = 0 ] || exit 77
