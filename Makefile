# The loop: make, make test [T=name], make check, make asan, make tsan, make bench, make bench-cpu, make suite PEER=..., make lanes, make outside
.PHONY: all test check asan tsan bench bench-cpu suite outside format wheel

PYTHON := .venv/bin/python

all:
	@bash -c 'source bin/setup.sh dev'

test: all
ifdef T
	ctest --test-dir build/dev --output-on-failure -R "$(T)"
	$(PYTHON) -m pytest -k "$(T)"
else
	bin/test
endif

lanes: all
	bin/test_lanes

check: all
	$(PYTHON) -m ruff check python tests tools bench examples
	$(PYTHON) -m ruff format --check python tests tools bench examples
	$(PYTHON) tools/check_layers.py
	$(PYTHON) tools/check_sizes.py
	$(PYTHON) tools/check_format.py

format: all
	$(PYTHON) -m ruff check --fix python tests tools bench examples
	$(PYTHON) -m ruff format python tests tools bench examples
	$(PYTHON) tools/check_format.py --fix

asan tsan:
	cmake --preset $@ >/dev/null
	ninja -C build/$@
	ctest --test-dir build/$@ --output-on-failure -j 2

bench: all
	$(PYTHON) bench/run.py

# The cpu device beside hand-written C++; ARGS="--quick --only matmul" and others: see its main.cpp.
bench-cpu: all
	ninja -C build/dev cpu_lanes_bench
	build/dev/src/devices/cpu/cpu_lanes_bench --threads 1 $(ARGS)
	build/dev/src/devices/cpu/cpu_lanes_bench --threads 2 $(ARGS)

suite: all
	$(PYTHON) -m tests.suites.run $(PEER)

# Kernels of programs that are not ours; ARGS="--drivers FOLDER --sources FOLDER": see its README.
outside: all
	$(PYTHON) -m tests.outside $(ARGS)

wheel:
	$(PYTHON) -m build --wheel --no-isolation
