#!/usr/bin/env bash
# The spatial operations beside other engines, over generated data, in one run; the tables of docs/benchmarks.md.
#
#   BENTHIC_BENCH=DIR PYTHON=… scripts/bench-spatial.sh DATA [congresses]
#
# BENTHIC_BENCH is the folder with the generator and the harness (gen.py, peers.py, report.py), PYTHON an interpreter with
# their requirements. DATA is made if it isn't there: `congresses` × 435 districts (default 20) and 1.9 million points.
# PEERS (default: ext,shapely,shapely_pred,sedonadb,duckdb,duckdb_mc, and postgis,postgis_fx where
# PostgreSQL answers) and ROUNDS (default 2) narrow or widen the run. Everything runs at nice 5.
set -euo pipefail

bench=${BENTHIC_BENCH:?the folder with gen.py and peers.py}
python=${PYTHON:-python3}
data=${1:?the folder for the data}
congresses=${2:-20}
rounds=${ROUNDS:-2}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
questions=find_district,find_district_batch,bbox_city,bbox_state,bbox_us,nearby_1k,nearby_10k,nearby_50k

renice -n 5 -p $$ >/dev/null 2>&1 || true
[ -e "$data/manifest.json" ] || "$python" "$bench/gen.py" --out "$data" --scale 0.01 --congresses "$congresses"
[ -e "$data/spatial.duckdb" ] || "$python" "$bench/peers.py" prep --data "$data"

cd "$here"
cargo build --release --bench spatial --locked
# The newest of the bench's executables.
binary=$(find "${CARGO_TARGET_DIR:-target}/release/deps" -maxdepth 1 -name 'spatial-*' -type f -executable -printf '%T@ %p\n' |
  sort -rn | head -n 1 | cut -d' ' -f2-)
[ -n "$binary" ] || { echo "the benchmark wasn't built" >&2; exit 1; }
[ -e "$data/benthic-store/refs/current" ] || "$binary" prepare "$data"

peers=${PEERS:-ext,shapely,shapely_pred,sedonadb,duckdb,duckdb_mc}
if [ -z "${PEERS:-}" ] && "$python" "$bench/peers.py" worker --data "$data" --peer postgis_fx --only nearby_1k >/dev/null 2>&1; then
  peers=$peers,postgis,postgis_fx
fi
"$binary" open "$data"
stats=$data/requests.jsonl
rm -f "$stats"
"$python" "$bench/peers.py" run --data "$data" --out "$data/results.json" --rounds "$rounds" --no-cold \
  --peers "$peers" --only "$questions" --ext "$binary peer --stats $stats"
"$python" "$bench/report.py" "$data/results.json"
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
