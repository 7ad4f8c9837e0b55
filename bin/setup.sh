# Shared by bin/demo and bin/test: installs what is needed, builds, and links the package into
# .venv. Quick when nothing changed. Usage: setup.sh [release|dev]; sourced, leaves $root, $python.
# TRILANE_SETUP_NVRTC=1 (CI) also installs NVIDIA's compiler, for the tests that need it and no GPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}
cd "$root"
say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }

# --- system packages (Debian 12 names)
packages="g++ cmake ninja-build make git ca-certificates python3 python3-dev python3-venv
  llvm-19-dev libclang-19-dev lld-19 libfmt-dev libxxhash-dev zlib1g-dev libzstd-dev libgtest-dev
  libbenchmark-dev"
missing=""
for package in $packages; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    say "installing system packages:$missing"
    if [ "$(id -u)" != 0 ]; then
        echo "bin: these packages are missing:$missing" >&2
        echo "bin: run as root, or: sudo apt-get install$missing" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# --- the virtual environment. The system's Python: the one that python3-dev belongs to.
system_python=/usr/bin/python3
[ -x "$system_python" ] || system_python=python3
if [ ! -x .venv/bin/python ]; then
    say "making .venv with $("$system_python" --version)"
    "$system_python" -m venv .venv
fi
python=$root/.venv/bin/python
install() { # once for each state of the requirements file
    local stamp
    stamp=.venv/.$1-$(sha256sum "$1" | cut -c1-16)
    [ ! -e "$stamp" ] || return 0
    say "installing Python packages: $1"
    "$python" -m pip install -q --disable-pip-version-check -r "$1"
    rm -f ".venv/.$1-"*
    touch "$stamp"
}
install requirements-dev.txt
[ "${TRILANE_SETUP_NVRTC:-0}" != 1 ] || install requirements-parity.txt

# --- build; the native libraries land beside the Python files
build=build/$preset
if [ ! -e "$build/build.ninja" ]; then
    say "configuring ($preset)"
    cmake --preset "$preset" -DPython_EXECUTABLE="$python" >"build-$preset.log" 2>&1 ||
        { cat "build-$preset.log"; exit 1; }
    mkdir -p "$build" && mv "build-$preset.log" "$build/configure.log"
fi
if [ "$(ninja -C "$build" -n | tail -n 1)" != "ninja: no work to do." ]; then
    say "building ($preset): $(nproc) processes"
    ninja -C "$build"
fi
"$python" tools/link_package.py "$root"
