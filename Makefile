# Needs Python 3.11 or newer, git and make; brings everything else into this checkout (.tools, .venv).
#   PYTHON=python3.13   another interpreter       VENV=.venv-3.13   another environment
#   ARGS="--once"       words for afterword       UPGRADE=1         newer versions, with `make lock`

VENV ?= .venv
ARGS ?=
LOCKS := requirements.lock requirements-dev.lock

# The machine's own certificates where it has them: a company's proxy is known there and nowhere else.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= 1
endif
export UV_PYTHON_DOWNLOADS = never
export VENV

UV := $(or $(shell command -v uv 2>/dev/null),.tools/uv/bin/uv)
PY = "$$(PYTHON='$(PYTHON)' .ci/python)"

.PHONY: help up demo test prove wheel docs site lock bench bench-full clean
.DELETE_ON_ERROR:

help:
	@echo 'make up     set up the vault on first run, then watch the agents'
	@echo 'make demo   one pass over a bundled sample history, in a throw-away home'
	@echo 'make test   formatting, lint, types, import layers, all tests'
	@echo 'make prove  what takes longer than a test may: kills at random points, by the hundred'
	@echo 'make wheel  build dist/*.whl'
	@echo 'make bench  measure reading, searching and idling on a made-up history (bench-full: up to 3.3 GB)'
	@echo 'make docs   make the reference pages in docs again from the code'
	@echo 'make site   build/site: the documentation, with broken links as errors'
	@echo 'make lock   make requirements*.lock again from pyproject.toml (UPGRADE=1: newer versions)'
	@echo 'make clean  take away .venv, .tools, dist and the caches'

up: $(VENV)/.stamp-run
	$(VENV)/bin/afterword up $(ARGS)

demo: $(VENV)/.stamp-run
	$(VENV)/bin/afterword up --demo $(ARGS)

test: $(VENV)/.stamp-dev
	@.ci/sshd >/dev/null || echo 'the tests that need an SSH server are skipped' >&2
	@.ci/check

wheel: $(VENV)/.stamp-dev
	rm -rf dist
	$(VENV)/bin/python -m build --wheel --no-isolation --outdir dist .

KILLS ?= 110
SEED ?= 12
prove: $(VENV)/.stamp-dev
	AFTERWORD_TEST_KILLS=$(KILLS) AFTERWORD_TEST_KNOWLEDGE_KILLS=$(KILLS) AFTERWORD_TEST_FORGET_KILLS=$(KILLS) \
	  AFTERWORD_TEST_RESCRUB_KILLS=$(KILLS) AFTERWORD_TEST_INDEX_KILLS=$(KILLS) AFTERWORD_TEST_COMPILE_KILLS=$(KILLS) \
	  AFTERWORD_TEST_BACKFILL_DAYS=400 AFTERWORD_TEST_BACKFILL_KILLS=50 \
	  AFTERWORD_TEST_VAULT_STEPS=10000 AFTERWORD_TEST_SYNC_STEPS=10000 AFTERWORD_TEST_SYNC_WALKS=500 \
	  AFTERWORD_TEST_SYNC_EXAMPLES=100 AFTERWORD_TEST_LESSONS=200 AFTERWORD_TEST_LESSON_KILLS=40 \
	  AFTERWORD_TEST_ALL=1 AFTERWORD_TEST_SEED=$(SEED) HYPOTHESIS_PROFILE=ci \
	  $(VENV)/bin/pytest tests/fault tests/property tests/golden tests/integration/test_canaries.py -p no:randomly --junitxml=build/prove.xml
	@grep -o 'value="seed[^"]*"' build/prove.xml

# The small sizes, some minutes. AFTERWORD_BENCH=DIR names where the made-up histories and their stores are kept.
BENCH_SMALL := capture query latency 'api --seconds 5' index hook sync 'idle --files 500 --seconds 15' digest compile
bench: $(VENV)/.stamp-dev
	@for words in $(BENCH_SMALL); do echo "== bench.$$words"; $(VENV)/bin/python -m bench.$$words $(ARGS) || exit 1; done

# All sizes, up to 3.3 GB: an hour or two, and 10 GB of disk. What is found is kept, and written into docs/benchmarks.md.
BENCH_FULL := hook latency api sync idle 'capture --size-mb 200' 'capture --size-mb 1000' 'capture --size-mb 3300' \
  'query --size-mb 200' 'query --size-mb 1000' 'query --size-mb 3300' 'index --hybrid-mb 1000' \
  'retrieval --own --ablation' 'retrieval --multilingual --ablation' \
  'retrieval --own --embedder minilm' 'retrieval --multilingual --embedder minilm' 'retrieval --codes'
bench-full: $(VENV)/.stamp-dev
	@mkdir -p build; for words in $(BENCH_FULL); do echo "== bench.$$words"; \
	  $(VENV)/bin/python -m bench.$$words --json > build/bench.json || exit 1; \
	  $(VENV)/bin/python -m bench.report --keep < build/bench.json || exit 1; done
	$(VENV)/bin/python -m bench.report

docs: $(VENV)/.stamp-dev
	$(VENV)/bin/python docs/make_reference.py

# The site of the documentation must fetch nothing: what a page loads by itself is looked for in what was built.
# The theme's script fetches for diagrams of Mermaid and for a repository's stars, so neither may be on a page.
# Not --quiet: what it does not print it does not count as an error either.
site: $(VENV)/.stamp-dev
	$(VENV)/bin/python docs/make_reference.py --check || { echo 'run: make docs' >&2; exit 1; }
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict
	@! grep -rnoE --include='*.html' --include='*.css' \
	  '<(script|img|iframe|source|video)[^>]* src=.?(https?:)?//[^ >]*|<link[^>]* href=.?(https?:)?//[^ >]*|(url|@import)\(? *.?(https?:)?//[^ )]*|class="mermaid"|data-md-component="source"' \
	  build/site || { echo 'the site loads something from elsewhere' >&2; exit 1; }

lock: $(UV)
	$(UV) pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --output-file requirements.lock pyproject.toml
	$(UV) pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  --extra dev --constraints requirements.lock --output-file requirements-dev.lock pyproject.toml
	@if grep -nE '://|--(extra-)?index-url|--find-links' $(LOCKS); then echo 'the locks name a registry' >&2; exit 1; fi

clean:
	rm -rf .venv .tools dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find daemon sync tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# Every install is by hash: uv itself from its pin in the dev lock, the run-time packages from their lock, and what
# builds the editable install through --build-constraints.
.tools/uv/bin/uv: requirements-dev.lock
	@echo 'bringing uv into .tools'
	@rm -rf .tools/uv && mkdir -p .tools
	@awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' requirements-dev.lock > .tools/uv.txt
	@python=$(PY) && "$$python" -m venv .tools/uv
	@.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r .tools/uv.txt
	@touch $@

# A rebuilt uv must not rebuild the environment: order only.
$(VENV)/bin/python: | $(UV)
	@python=$(PY) && $(UV) venv --quiet --allow-existing --python "$$python" $(VENV)

$(VENV)/.stamp-run: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(UV) pip install --quiet --python $(VENV)/bin/python --require-hashes -r requirements.lock
	$(UV) pip install --quiet --python $(VENV)/bin/python --no-deps --build-constraints requirements-dev.lock -e .
	@touch $@

$(VENV)/.stamp-dev: requirements-dev.lock $(VENV)/.stamp-run
	$(UV) pip install --quiet --python $(VENV)/bin/python --require-hashes -r requirements-dev.lock
	@touch $@
