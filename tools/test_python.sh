#!/usr/bin/env bash
# Runs tests on the installed wheel, in an environment of another Python version.
# Needs the network. Usage: tools/test_python.sh PYTHON [pytest arguments]
# Without arguments: all tests but those of the docs and those that start a browser or a cluster.
# ENVIRONMENT=folder keeps the environment, and uses it again.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:?usage: tools/test_python.sh PYTHON [pytest arguments]}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=${ENVIRONMENT:-$work/environment}
"$python" -m venv "$environment"
pip=("$environment/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" wheel --no-deps --wheel-dir "$work" "$root"
"${pip[@]}" install "$(echo "$work"/noisybayes-*.whl)[dev]"
# the same version number as last time does not mean the same code
"${pip[@]}" install --no-deps --force-reinstall "$work"/noisybayes-*.whl
if [ $# = 0 ]; then
  set -- tests --ignore=tests/engines --ignore=tests/test_site.py --ignore=tests/test_gallery.py \
    --ignore=tests/test_docs.py --ignore-glob='*/test_browser.py' \
    --ignore-glob='*/test_cluster.py' --ignore-glob='*/test_row_scorer_spark.py'
fi
cd "$root"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # as in make test
unset PYTHONPATH # else the sources would hide the wheel
"$environment/bin/python" -c 'import noisybayes, sys; print(sys.version.split()[0], noisybayes.__file__)'
"$environment/bin/python" -m pytest -q "$@"
