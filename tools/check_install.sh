#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment and audits the example data there.
# Needs the network. Usage: tools/check_install.sh [oldest | newest]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
which=${1:-newest}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip=("$work/venv/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" wheel --no-deps --wheel-dir "$work" "$root"
: >"$work/constraints"
if [ "$which" = oldest ]; then
  python3 "$root/tools/oldest_dependencies.py" >"$work/constraints"
fi
"${pip[@]}" install --constraint "$work/constraints" "$(echo "$work"/noisybayes-*.whl)[cli]"
cd "$work"
venv/bin/noisybayes audit "$root/examples/dealership.csv" --label label --text message --out audit
test -s audit/report.html
venv/bin/python -m pip --disable-pip-version-check list | grep -iE "^(numpy|scipy|scikit-learn|pandas|polars|click|noisybayes) "
