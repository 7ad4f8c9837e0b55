#!/usr/bin/env bash
# On a GPU machine, after build.sh: C++ tests, then pytest with TRILANE_DEVICE=cuda, within a limit.
# Usage: test.sh SECONDS [what pytest is given]. Into $OUT (default build/device/results):
# cpp.txt, pytest.txt (short report), pytest.xml, versions.txt.
# Environment: CPP=0 leaves the C++ tests out; WORKERS (default 8); EACH (seconds a test, 60);
# TRILANE_DEVICE to test another device.
set -uo pipefail
limit=${1:?usage: test.sh SECONDS [what pytest is given]}
shift
pack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$pack/.."
build=${BUILD:-build/device}
source "$build/env.sh" || { echo "test.sh: run build.sh first"; exit 2; }
out=${OUT:-$build/results}
mkdir -p "$out"
export TRILANE_DEVICE=${TRILANE_DEVICE:-cuda} PYTHONUNBUFFERED=1
left() { local rest=$((limit - SECONDS)); echo $((rest > 5 ? rest : 5)); }
status=0

{
    date -u
    nvidia-smi
    "$TRILANE_PYTHON" -m trilane info
    "$TRILANE_PYTHON" -m pip list 2>/dev/null
} >"$out/versions.txt" 2>&1

if [ "${CPP:-1}" != 0 ]; then
    : >"$out/cpp.txt"
    for program in "$TRILANE_BUILD"/src/*_tests "$TRILANE_BUILD"/src/devices/*/*_tests; do
        [ -x "$program" ] || continue
        timeout -k 5 "$(left)" "$program" --gtest_brief=1 >>"$out/cpp.txt" 2>&1
        code=$?
        [ $code = 0 ] || status=1
        echo "$(basename "$program"): status $code; $(grep -E '^\[  (PASSED|FAILED)' "$out/cpp.txt" | tail -n 1)"
    done
fi

have() { "$TRILANE_PYTHON" -c "import $1" 2>/dev/null; }
options=(-o addopts= -q --import-mode=importlib -p no:cacheprovider --tb=short -rfE
         --junitxml="$out/pytest.xml")
have pytest_timeout && options+=("--timeout=${EACH:-60}")
have xdist && options+=(-n "${WORKERS:-8}" --dist=worksteal)
# INT first, so that pytest closes with what it has.
timeout -s INT -k 20 "$(left)" "$TRILANE_PYTHON" -m pytest "${options[@]}" "$@" >"$out/pytest.txt" 2>&1
code=$?
[ $code = 0 ] || status=1
grep -E '^(FAILED|ERROR)' "$out/pytest.txt" | cut -c1-180 | head -n 60
tail -n 1 "$out/pytest.txt"
echo "pytest: status $code, ${SECONDS} s of $limit"
exit $status
