# Two commands matter: `make conformance` and `make test`. Both work on a fresh machine that has
# Python 3.11 or later and can reach its package registry; everything else they look for (Java,
# Maven, Docker) is used where it is there and counted as "not run" where it is not.

VENV    := .venv
PY      := $(VENV)/bin/python
RESULTS ?= results
TARGETS ?= reference@1.0 reference@2.2 reference@2.8 reference@3.9 reference@4.3

.PHONY: help conformance test test-all fast live lint bench docs clean new-claim new-api new-release

help:  ## Show these lines
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1\t/' | expand -t 22

$(VENV)/.%: pyproject.toml ci/setup
	@ci/setup $(VENV) $*

# Where a registry is not reached, the tests that need what it has are counted as not run.
EXAMPLES := $(wildcard examples/*/pom.xml examples/*/go.mod examples/*/package.json)
$(VENV)/.examples: $(VENV)/.test ci/fetch-examples $(EXAMPLES)
	@echo "touchstone: fetching what the examples need, for the tools there are" >&2
	@ci/fetch-examples && touch $@ || echo "touchstone: not all of it was fetched" >&2

conformance: $(VENV)/.conformance  ## Judge the reference broker against Kafka's recorded answers; leave a dashboard
	@$(PY) ci/conformance.py --results $(RESULTS) $(addprefix --target ,$(TARGETS))

test: $(VENV)/.test $(VENV)/.examples  ## Every test that needs no Docker: units, suites on recordings, live Kafka where Java and Maven are
	@$(PY) ci/run

test-all: $(VENV)/.test $(VENV)/.examples  ## The same and what runs at night: all five real Kafka releases, tests marked `nightly`
	@TOUCHSTONE_LIVE=all $(PY) ci/run all

fast: $(VENV)/.test  ## The fast tier only: no Java, no Docker, no Spark start
	@$(PY) ci/run fast

live: $(VENV)/.test  ## The suites on all five real Kafka releases (needs Java and Maven)
	@TOUCHSTONE_LIVE=all $(PY) ci/run live

lint: $(VENV)/.test  ## House rules, import contracts, ruff
	@$(PY) ci/run lint

bench: $(VENV)/.test  ## Side-by-side figures against real Kafka and other peers
	@$(VENV)/bin/touchstone bench

docs: $(VENV)/.docs  ## The documentation, built strictly into build/docs
	@$(PY) -m ci.docs --out build/docs

new-claim: $(VENV)/.test  ## Begin a claim: make new-claim ID=topics.what-it-says API=CreateTopics
	@$(PY) -m ci.new claim "$(ID)" "$(API)"

new-api: $(VENV)/.test  ## Begin a request type: make new-api KEY=93 NAME=DescribeSomething
	@$(PY) -m ci.new api "$(KEY)" "$(NAME)"

new-release: $(VENV)/.test  ## Begin a release: make new-release NAME=4.4 VERSION=4.4.0
	@$(PY) -m ci.new release "$(NAME)" "$(VERSION)"

clean:  ## Remove the environment, caches and results
	rm -rf $(VENV) $(RESULTS) .pytest_cache .ruff_cache .hypothesis build *.egg-info
