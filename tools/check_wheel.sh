#!/usr/bin/env bash
# Build the wheel and run the three programs from it in a fresh virtual environment, for each Python
# that is there (3.10 to 3.13), with no compiler and no LLVM on the path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rm -rf dist
# The compiler by the name that the tests' build calls it: the compiler cache tells names apart.
CXX=${CXX:-c++} .venv/bin/python -m build --wheel --no-isolation --outdir dist >build/wheel.log 2>&1 ||
    { tail -n 40 build/wheel.log; exit 1; }
wheel=$(ls dist/trilane-*.whl)
echo "built $(basename "$wheel"), $(du -h "$wheel" | cut -f1)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0
for candidate in /usr/bin/python3 python3.10 python3.11 python3.12 python3.13; do
    python=$(command -v "$candidate" || true)
    [ -n "$python" ] && "$python" -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ -e "$work/$version" ] && continue
    "$python" -m venv "$work/$version"
    "$work/$version/bin/pip" install -q --disable-pip-version-check "$wheel"
    for style in pycuda numba cupy; do
        (cd "$work" && env -i HOME="$work" PATH="$work/$version/bin" TRILANE_DEVICE=cpu \
            "$work/$version/bin/trilane" run "$OLDPWD/examples/vector_add_$style.py")
    done
    echo "Python $version: the three programs run from the wheel"
    tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "check_wheel: no Python to try it with"; exit 1; }
