"""The recorded tables are still what the jars say: run where Java and the jars are.

TOUCHSTONE_KAFKA_LIBS names a folder with one folder per release that holds `libs/*.jar`.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBS = os.environ.get("TOUCHSTONE_KAFKA_LIBS", "")
FOLDERS = {"1.0.2": "ring", "2.2.1": "ring", "2.8.2": "ring", "3.9.2": "stripes"}


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.skipif(not LIBS or not shutil.which("java"), reason="no Java or no jars")
@pytest.mark.parametrize("release", FOLDERS)
def test_recorded_tables_are_the_jars(release):
    kind = FOLDERS[release]
    lines = (HERE / f"{kind}.txt").read_text().splitlines()
    done = subprocess.run(
        ["java", "-cp", f"{LIBS}/{release}/libs/*", HERE / f"{kind.capitalize()}.java"],
        input="".join(line.split(" => ")[0] + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.splitlines() == [line.split(" => ")[1] for line in lines]
