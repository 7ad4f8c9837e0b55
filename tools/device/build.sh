#!/usr/bin/env bash
# On a GPU machine, from the root of the tree: build Trilane without LLVM from the pack beside this
# script. Quick the second time. Environment: PYTHON (default python3), BUILD (build/device),
# JOBS (all cores), TESTS=OFF to leave the C++ tests out.
set -euo pipefail
pack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$pack/.."
root=$PWD
python=$(command -v "${PYTHON:-python3}")
build=${BUILD:-build/device}
tests=${TESTS:-ON}
jobs=${JOBS:-$(nproc)}
say() { printf '==> %s\n' "$*"; }
mkdir -p "$build"
build=$(cd "$build" && pwd)

# --- Python packages that are missing or too old here, apart from everything else
site=$build/site
mkdir -p "$site"
export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
missing=$("$python" - "$pack/wheels" <<'PY'
import importlib.metadata as metadata, pathlib, re, sys

def number(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

must_match = {"nanobind", "nanobind-backend"}  # older ones cannot build this tree
for wheel in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
    name, version = wheel.name.split("-")[:2]
    name = name.replace("_", "-").lower()
    try:
        have = metadata.version(name)
    except metadata.PackageNotFoundError:
        print(wheel)
        continue
    if name in must_match and number(have) < number(version):
        print(wheel)
PY
)
if [ -n "$missing" ]; then
    say "wheels: $(printf '%s\n' "$missing" | xargs -n1 basename | cut -d- -f1,2 | paste -sd' ')"
    for wheel in $missing; do "$python" -m zipfile -e "$wheel" "$site"; done
fi

# --- GoogleTest from its sources
if [ "$tests" = ON ] && [ ! -e "$build/prefix/lib/libgtest.a" ]; then
    say "GoogleTest"
    cmake -S "$pack/googletest" -B "$build/googletest" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_FLAGS=-w -DBUILD_GMOCK=OFF -DCMAKE_INSTALL_PREFIX="$build/prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib >"$build/googletest.log" 2>&1 &&
        ninja -C "$build/googletest" -j"$jobs" install >>"$build/googletest.log" 2>&1 ||
        { tail -n 30 "$build/googletest.log"; exit 1; }
fi

# --- Trilane. Python's headers come from the pack where that Python has none.
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
python_options=(-DPython_EXECUTABLE="$python")
if [ ! -e "$include/Python.h" ]; then
    [ -e "$pack/python_include/Python.h" ] || { echo "build.sh: no Python.h in $include"; exit 1; }
    python_options+=(-DPython_INCLUDE_DIR="$pack/python_include")
    say "Python headers: the pack's"
fi
say "configure"
cmake -S . -B "$build/trilane" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRILANE_CPU=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DTRILANE_TESTS="$tests" "${python_options[@]}" \
    -DCMAKE_PREFIX_PATH="$build/prefix;$pack" >"$build/configure.log" 2>&1 ||
    { tail -n 40 "$build/configure.log"; exit 1; }
started=$SECONDS
ninja -C "$build/trilane" -j"$jobs" >"$build/build.log" 2>&1 ||
    { grep -A12 -E 'error|FAILED' "$build/build.log" | head -n 150; exit 1; }
say "built in $((SECONDS - started)) s, $(grep -c 'warning:' "$build/build.log" || true) warnings"

if [ -e "$pack/libtrilane_cpu.so.xz" ] && [ ! -e python/trilane/libtrilane_cpu.so ]; then
    "$python" - "$pack/libtrilane_cpu.so.xz" python/trilane/libtrilane_cpu.so <<'PY'
import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], "wb") as out:
    shutil.copyfileobj(packed, out)
PY
fi

# --- what later commands source
cat >"$build/env.sh" <<SH
export PYTHONPATH="$root/python:$root:$site"
export TRILANE_BUILD="$build/trilane"
export TRILANE_PYTHON="$python"
SH
source "$build/env.sh"
say "$(g++ --version | head -n 1); $(cmake --version | head -n 1); $("$python" --version)"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || say "no nvidia-smi"
"$python" -m trilane info || say "trilane info: status $?"
