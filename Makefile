# The loop: make, make test [T=name], make check, make asan, make tsan, make bench, make suite PEER=...
.PHONY: all test check asan tsan bench suite format wheel

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

suite: all
	$(PYTHON) -m tests.suites.run $(PEER)

wheel:
	$(PYTHON) -m build --wheel --no-isolation
