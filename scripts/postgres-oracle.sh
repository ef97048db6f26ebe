#!/usr/bin/env bash
# Runs SQL from standard input on a throwaway PostgreSQL and prints what it answers.
#
#   scripts/postgres-oracle.sh < statements.sql                run the statements
#   scripts/postgres-oracle.sh --load FILE < statements.sql    load a file first, without showing what it prints
#   scripts/postgres-oracle.sh --postgis ...                   the same on a PostgreSQL that has PostGIS
#   scripts/postgres-oracle.sh --check [--postgis]             say whether that is possible here
#   scripts/postgres-oracle.sh --all                           run the engine's whole comparison (tests/oracle)
#
# The cluster lives in a temporary directory with a private socket, listens on no network address, and is gone when the
# script ends. Text is UTF-8, compared by code point (locale C); the time zone is UTC. A failing statement ends the run
# unless the statements say `\set ON_ERROR_STOP 0`. Nothing is installed: without the binaries (Debian: postgresql-15,
# and postgresql-15-postgis-3 for PostGIS) it exits 77 and says why.
set -euo pipefail

cannot() {
  echo "postgres-oracle: cannot run here: $*" >&2
  exit 77
}

postgis=0 check=0 all=0 load=
while [ $# -gt 0 ]; do
  case $1 in
    --postgis) postgis=1 ;;
    --check) check=1 ;;
    --all) all=1 ;;
    --load) load=$(realpath "$2"); shift ;;
    *) echo "postgres-oracle: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

if [ $all = 1 ]; then
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  export BENTHIC_REQUIRE_POSTGRES=1 BENTHIC_ORACLE_REQUESTS=${BENTHIC_ORACLE_REQUESTS:-20000}
  exec cargo test --locked --test oracle -- --show-output
fi

# The newest installed PostgreSQL, with PostGIS's library beside it where that is wanted.
binaries=
for candidate in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
  [ -x "$candidate/initdb" ] && [ -x "$candidate/psql" ] || continue
  [ $postgis = 0 ] || [ -e "$candidate/../lib/postgis-3.so" ] || continue
  binaries=$candidate
  break
done
if [ -z "$binaries" ]; then
  [ $postgis = 0 ] || cannot "no PostgreSQL with PostGIS 3 under /usr/lib/postgresql (install postgresql-15-postgis-3)"
  cannot "no PostgreSQL under /usr/lib/postgresql (install postgresql-15)"
fi

# PostgreSQL refuses to run as root; the package's own user is the natural other one.
as_server() { "$@"; }
server_user=$(id -un)
if [ "$(id -u)" = 0 ]; then
  server_user=${POSTGRES_ORACLE_USER:-postgres}
  id "$server_user" >/dev/null 2>&1 || cannot "running as root and there is no user '$server_user'"
  command -v runuser >/dev/null 2>&1 || cannot "running as root and runuser is not installed"
  as_server() { runuser -u "$server_user" -- "$@"; }
fi

if [ $check = 1 ]; then
  what="PostgreSQL oracle"
  [ $postgis = 0 ] || what="PostGIS oracle"
  echo "$what: $("$binaries/postgres" --version), run as $server_user"
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
[ -z "$load" ] || run_sql oracle -f "$load" >/dev/null
run_sql oracle -f -
