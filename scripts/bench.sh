#!/usr/bin/env bash
# The product beside other engines, over generated data, in one run; the tables of docs/benchmarks.md.
#
#   BENTHIC_BENCH=DIR PYTHON=… scripts/bench.sh spatial DATA [congresses]    districts, boxes and nearby nonprofits (20)
#   BENTHIC_BENCH=DIR PYTHON=… scripts/bench.sh tables  DATA [scale]         filters, sums, joins (0.25: 4.5 million rows)
#
# BENTHIC_BENCH is the folder with the generator and the harness (gen.py, peers.py, report.py), PYTHON an interpreter with
# their requirements. DATA is made if it isn't there. PEERS and ROUNDS (default 2) narrow or widen the run; PostgreSQL takes
# part where `peers.py pg-init --data DATA` has loaded it.
set -euo pipefail

kind=${1:?spatial or tables}
bench=${BENTHIC_BENCH:?the folder with gen.py and peers.py}
python=${PYTHON:-python3}
data=${2:?the folder for the data}
rounds=${ROUNDS:-2}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case $kind in
spatial)
  make=(--scale 0.01 --congresses "${3:-20}")
  questions=find_district,find_district_batch,bbox_city,bbox_state,bbox_us,nearby_1k,nearby_10k,nearby_50k
  peers=ext,shapely,shapely_pred,sedonadb,duckdb,duckdb_mc
  postgres=postgis,postgis_fx
  probe=bbox_city
  ;;
tables)
  make=(--scale "${3:-0.25}")
  questions=pk_eq,duns_eq,filter_common,filter_rare,ilike,count_all,count_filter,count_date,count_col,count_col_filter
  questions=$questions,top1,top1_filter,page_by_key,sum_by_state,sum_by_state_f64,sum_by_district,join_rows,join_text_keys
  peers=ext,duckdb,datafusion,datafusion_pd
  postgres=postgis
  probe=pk_eq
  ;;
*)
  echo "spatial or tables, not $kind" >&2
  exit 64
  ;;
esac

[ -e "$data/manifest.json" ] || "$python" "$bench/gen.py" --out "$data" "${make[@]}"
[ -e "$data/spatial.duckdb" ] || "$python" "$bench/peers.py" prep --data "$data"

cd "$here"
cargo build --release --bench peer --locked
# The newest of the bench's executables.
binary=$(find "${CARGO_TARGET_DIR:-target}/release/deps" -maxdepth 1 -name 'peer-*' -type f -executable -printf '%T@ %p\n' |
  sort -rn | head -n 1 | cut -d' ' -f2-)
[ -n "$binary" ] || { echo "the benchmark wasn't built" >&2; exit 1; }
if [ "$kind" = spatial ]; then
  [ -e "$data/benthic-store/refs/current" ] || "$binary" prepare "$data"
  "$binary" open "$data"
else
  [ -e "$data/tables-store/refs/current" ] || "$binary" tables "$data"
  "$binary" small "$data"
fi

if [ -z "${PEERS:-}" ] && "$python" "$bench/peers.py" worker --data "$data" --peer postgis --only "$probe" >/dev/null 2>&1; then
  peers=$peers,$postgres
fi
peers=${PEERS:-$peers}
run() {
  "$python" "$bench/peers.py" run --data "$data" --rounds "$rounds" --no-cold --only "$questions" "$@"
}
run --out "$data/results-$kind.json" --peers "$peers" --ext "$binary peer"
"$python" "$bench/report.py" "$data/results-$kind.json"
[ "$kind" = spatial ] || exit 0

# Whole requests in a run of their own: beside the look-ups they would push their data out of the caches.
stats=$data/requests.jsonl
rm -f "$stats"
run --out "$data/results-requests.json" --peers "ext${peers##*duckdb_mc}" --ext "$binary peer --stats $stats" >/dev/null
"$python" "$bench/report.py" "$data/results-requests.json" | sed -n '/Median/,/^$/p'
echo "whole requests of ours, median in µs:"
"$python" - "$stats" <<'PYTHON'
import json, statistics, sys
times = {}
for line in open(sys.argv[1]):
    for name, list_ in json.loads(line).items():
        times.setdefault(name, []).extend(list_)
for name, list_ in sorted(times.items()):
    print(f"  {name:36} {statistics.median(list_):10.1f}  ({len(list_)} requests)")
PYTHON

case $peers in *postgis_fx*) ;; *) exit 0 ;; esac
echo "indexed PostGIS, the first 1,000 rows and an exact count, median in µs:"
"$python" - "$bench" "$data" <<'PYTHON'
import statistics, sys, time
sys.path.insert(0, sys.argv[1])
import peers, queries
server, questions = peers.PostGIS_fx(sys.argv[2]), queries.args(sys.argv[2])
for name in queries.RADIUS:
    times = []
    for turn in range(3):
        for place in questions[name]:
            values = (place["lat"], place["lon"], place["radius"])
            started = time.perf_counter()
            server.sql("SELECT ein, org_name_current, dist FROM nonprofits_nearby_fx(%s,%s,%s) LIMIT 1000", values)
            server.sql("SELECT count(*) FROM nonprofits_nearby_fx(%s,%s,%s)", values)
            if turn:
                times.append((time.perf_counter() - started) * 1e6)
    print(f"  {name:36} {statistics.median(times):10.1f}")
PYTHON
