#!/usr/bin/env bash
# Runs SQL from standard input on a throwaway PostgreSQL + PostGIS and prints what it answers.
#
#   scripts/postgis-oracle.sh < statements.sql     run the statements
#   scripts/postgis-oracle.sh --check              say whether that is possible here
#
# Before the statements it loads the functions and tables of tests/spatial/oracle.sql. How the server is started, and
# what happens where there is none, is scripts/postgres-oracle.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec bash "$here/postgres-oracle.sh" --postgis --load "$here/../tests/spatial/oracle.sql" "$@"
