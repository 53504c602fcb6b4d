"""The recorded placements of replicas are still what the jars compute.

The tables and the programs that printed them are those of reference_impl/tests/placement.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from touchstone.checkout import ROOT
from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
HERE = Path(ROOT or ".", "reference_impl", "tests", "placement")
TABLES = {"1.0": "ring", "2.2": "ring", "2.8": "ring", "3.9": "stripes"}
HANGS_S = 600


@pytest.mark.parametrize("release", TABLES)
def test_recorded_tables_are_the_jars(release):
    try:
        java, home = find_java(), kafka_home(release)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    table = TABLES[release]
    lines = (HERE / f"{table}.txt").read_text("utf-8").splitlines()
    done = subprocess.run(
        [str(java.executable), *QUICK, "-cp", class_path(home),
         HERE / f"{table.capitalize()}.java"],
        input="".join(line.split(" => ")[0] + "\n" for line in lines),
        capture_output=True, text=True, timeout=HANGS_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [line.split(" => ")[1] for line in lines]
