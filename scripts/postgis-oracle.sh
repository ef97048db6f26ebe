#!/usr/bin/env bash
# Runs SQL from standard input on a throwaway PostgreSQL + PostGIS and prints what it answers.
#
#   scripts/postgis-oracle.sh < statements.sql     run the statements
#   scripts/postgis-oracle.sh --check              say whether that is possible here
#
# Before the statements it loads the functions and tables of tests/spatial/oracle.sql. The cluster lives in a
# temporary directory with a private socket, listens on no network address, and is gone when the script ends.
# Nothing is installed: without the binaries (Debian: postgresql-15-postgis-3) it exits 77 and says why.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
functions=$here/../tests/spatial/oracle.sql

cannot() {
  echo "postgis-oracle: cannot run here: $*" >&2
  exit 77
}

# The newest installed PostgreSQL that has PostGIS's library beside it.
binaries=
for candidate in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
  if [ -x "$candidate/initdb" ] && [ -x "$candidate/psql" ] && [ -e "$candidate/../lib/postgis-3.so" ]; then
    binaries=$candidate
    break
  fi
done
[ -n "$binaries" ] || cannot "no PostgreSQL with PostGIS 3 under /usr/lib/postgresql (install postgresql-15-postgis-3)"

# PostgreSQL refuses to run as root; the package's own user is the natural other one.
as_server() { "$@"; }
server_user=$(id -un)
if [ "$(id -u)" = 0 ]; then
  server_user=${POSTGIS_ORACLE_USER:-postgres}
  id "$server_user" >/dev/null 2>&1 || cannot "running as root and there is no user '$server_user'"
  command -v runuser >/dev/null 2>&1 || cannot "running as root and runuser is not installed"
  as_server() { runuser -u "$server_user" -- "$@"; }
fi

if [ "${1:-}" = --check ]; then
  echo "PostGIS oracle: $("$binaries/postgres" --version), run as $server_user"
  exit 0
fi

# A short path: a Unix socket's may have at most 107 bytes.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pgoracle.XXXXXX")
finish() {
  as_server "$binaries/pg_ctl" -D "$scratch/data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ "$(id -u)" != 0 ] || chown "$server_user" "$scratch"
cd "$scratch"

as_server "$binaries/initdb" -D "$scratch/data" -A trust -U oracle --locale=C -E UTF8 >"$scratch/initdb.log" 2>&1 ||
  { cat "$scratch/initdb.log" >&2; cannot "initdb failed"; }
as_server "$binaries/pg_ctl" -D "$scratch/data" -w -t 60 -l "$scratch/data/server.log" \
  -o "-k $scratch -c listen_addresses='' -c fsync=off -c jit=off -c timezone=UTC" start >"$scratch/start.log" 2>&1 ||
  { cat "$scratch/start.log" "$scratch/data/server.log" >&2; cannot "the server did not start"; }

run_sql() { "$binaries/psql" -X -q -A -t -h "$scratch" -U oracle -v ON_ERROR_STOP=1 -d "$1" "${@:2}"; }
run_sql postgres -c 'create database oracle' >/dev/null
run_sql oracle -f "$functions" >/dev/null
run_sql oracle -f -
