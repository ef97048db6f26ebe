#!/usr/bin/env bash
# Runs all tests. Works from any directory and does the set-up itself.
#
#   scripts/test.sh [arguments for cargo test]
#
# Some tests need programs from the distribution: a C compiler to build, PostgreSQL with PostGIS as the spatial oracle,
# Python for a foreign MCP client. What is missing is installed with apt where that is allowed without asking (root, or
# sudo without a password; BENTHIC_TEST_INSTALL=0 forbids it). What can't be had is said, and the summary at the end lists
# what was skipped and why. BENTHIC_REQUIRE_POSTGIS=1, BENTHIC_REQUIRE_MCP_CLIENTS=1 and BENTHIC_REQUIRE_REAL_BDP=1 turn
# the skip of that part into a failure.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
notes=()
note() { notes+=("$*"); echo "test.sh: $*"; }

if ! command -v cargo >/dev/null 2>&1; then
  [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH || {
    echo "test.sh: cargo is not installed. Install Rust (https://rustup.rs) and run this again." >&2
    exit 1
  }
fi

# --- What the tests need from the distribution ---------------------------------------------------------------------
missing=()
command -v cc >/dev/null 2>&1 || missing+=(build-essential)
scripts/postgis-oracle.sh --check >/dev/null 2>&1 || missing+=(postgis)
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing+=(python3-venv)

as_root() { "$@"; }
may_install() {
  [ "${BENTHIC_TEST_INSTALL:-1}" != 0 ] || { reason="BENTHIC_TEST_INSTALL=0"; return 1; }
  command -v apt-get >/dev/null 2>&1 || { reason="this isn't a Debian or Ubuntu system"; return 1; }
  [ "$(id -u)" != 0 ] || return 0
  if sudo -n true 2>/dev/null; then
    as_root() { sudo -n "$@"; }
    return 0
  fi
  reason="not root, and sudo would ask for a password"
  return 1
}
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'; }

if [ ${#missing[@]} -gt 0 ]; then
  if may_install; then
    as_root apt-get update -qq >/dev/null 2>&1 || note "apt-get update failed; going on with the lists that are there"
    packages=()
    for need in "${missing[@]}"; do
      case $need in
        # Debian 12 by its name; elsewhere the package that depends on the distribution's own version.
        postgis) if has_candidate postgresql-15-postgis-3; then packages+=(postgresql-15 postgresql-15-postgis-3)
                 else packages+=(postgresql-postgis); fi ;;
        *) packages+=("$need") ;;
      esac
    done
    echo "test.sh: installing ${packages[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" \
      >/dev/null 2>&1 || note "could not install ${packages[*]}"
  else
    note "not installing ${missing[*]}: $reason"
  fi
fi
command -v cc >/dev/null 2>&1 || { echo "test.sh: no C compiler (cc), which building needs." >&2; exit 1; }

# --- What is here decides which optional tests run -----------------------------------------------------------------
if [ -z "${BENTHIC_REAL_BDP:-}" ] && [ -d "$root/../shared/real-bdp" ]; then
  BENTHIC_REAL_BDP=$(cd "$root/../shared/real-bdp" && pwd)
fi
if [ -n "${BENTHIC_REAL_BDP:-}" ]; then
  export BENTHIC_REAL_BDP
  echo "test.sh: real signed documents from $BENTHIC_REAL_BDP"
fi
if [ -z "${BENTHIC_EVAL:-}" ] && [ -d "$root/../shared/eval" ]; then
  BENTHIC_EVAL=$(cd "$root/../shared/eval" && pwd)
  export BENTHIC_EVAL
fi
# What is installed has to work: a broken oracle is not a skip.
if scripts/postgis-oracle.sh --check; then
  export BENTHIC_REQUIRE_POSTGIS=1
fi

# --- The tests -----------------------------------------------------------------------------------------------------
log=$target/test.log
mkdir -p "$target"
status=0
# The output of passing tests is where they say what they skipped.
cargo test --locked --no-fail-fast "$@" -- --show-output 2>&1 | tee "$log" || status=$?
if [ $status = 0 ] && [ $# -eq 0 ]; then
  client_status=0
  scripts/mcp-clients.sh 2>&1 | tee -a "$log" || client_status=$?
  [ $client_status = 0 ] || [ $client_status = 77 ] || status=$client_status
fi

# --- Summary -------------------------------------------------------------------------------------------------------
echo
echo "== Summary"
{ grep -E '^test result:' "$log" || true; } |
  awk '{ passed += $4; failed += $6; ignored += $8 } END { print passed+0, "passed,", failed+0, "failed,", ignored+0, "ignored" }'
grep -E '^test .* FAILED$' "$log" || true
grep -E '^PostGIS .* inputs compared' "$log" | sort -u || true
skipped=$(grep -iE '^skipped' "$log" | sort -u || true)
if [ -n "$skipped" ]; then
  echo "$skipped"
else
  echo "Nothing was skipped."
fi
for line in ${notes[@]+"${notes[@]}"}; do echo "note: $line"; done
[ $status = 0 ] && echo "All tests passed." || echo "FAILED (exit code $status); the whole output is in $log"
exit $status
