"""The programs in `examples/` do what they say, each in a copy of its folder.

Nothing is downloaded here: what Maven, Go or npm have not stored is named as not fetched. Whoever
ran `ci/fetch-examples`, or an example once as its README tells, has it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.checkout import ROOT
from touchstone.harness.tests.clients.programs import GO_ALONE, GO_SECONDS

pytestmark = pytest.mark.slow

EXAMPLES = Path(ROOT or ".") / "examples"
SAID = "customer 7: order 1"
PYTHON = {"confluent-kafka": "confluent_kafka", "kafka-python": "kafka", "aiokafka": "aiokafka"}
COPY = ["mvn", "-o", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
# Of each folder: the tools, what fetches without a network, and what runs.
OTHERS = {
    "java": (("java", "mvn"), COPY, ["java", "-cp", "lib/*", "Orders.java"]),
    "go": (("go",), ["go", "mod", "download"], ["go", "run", "."]),
    "node": (("node", "npm"), ["npm", "install", "--offline", "--no-audit"], ["node", "orders.js"]),
}
NOT_STORED = re.compile(r"in offline mode|No plugin found|disabled by GOPROXY=off|ENOTCACHED")


@pytest.fixture
def folder(request, tmp_path) -> Path:
    """A copy, without what a run in the checkout left there."""
    left = shutil.ignore_patterns("lib", "node_modules", "__pycache__", "package-lock.json")
    return Path(shutil.copytree(EXAMPLES / request.param, tmp_path / "copy", ignore=left))


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """With `touchstone` of this environment on the PATH, and this checkout's package in it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | GO_ALONE | {"PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=GO_SECONDS
    )


@pytest.mark.parametrize("folder", PYTHON, indirect=True)
def test_a_test_with_a_python_client_passes(folder, request):
    client = request.node.callspec.params["folder"]
    if importlib.util.find_spec(PYTHON[client]) is None:
        pytest.skip(f"not run: no {client}")
    done = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("folder", OTHERS, indirect=True)
def test_a_program_in_another_language_reads_what_it_wrote(folder, request):
    tools, fetch, program = OTHERS[language := request.node.callspec.params["folder"]]
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"not run: no {tool}")
    fetched = run(folder, *fetch)
    if fetched.returncode and NOT_STORED.search(fetched.stdout + fetched.stderr):
        pytest.skip(f"not run: what examples/{language} needs is not fetched (ci/fetch-examples)")
    assert not fetched.returncode, fetched.stdout + fetched.stderr
    done = run(folder, *program)
    assert done.returncode == 0 and SAID in done.stdout.splitlines(), done.stdout + done.stderr


def test_every_example_is_run():
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders == {*PYTHON, *OTHERS}
