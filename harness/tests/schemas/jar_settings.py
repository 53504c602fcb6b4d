"""What a release's jars define of broker settings, by `BrokerConfigs.java`."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home

PROGRAM = Path(__file__).with_name("BrokerConfigs.java")
SECONDS = 600


@functools.cache
def settings(release: str) -> dict[str, tuple[str, str]]:
    """name -> (type, validator as Java prints it; "" for none), internal settings too."""
    try:
        argv = [find_java().executable, *QUICK, "-cp", class_path(kafka_home(release)), PROGRAM]
    except Unavailable as missing:
        pytest.skip(f"not run: {missing}")
    done = subprocess.run(
        [*map(str, argv)], capture_output=True, text=True, check=True, timeout=SECONDS
    )
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    return {name: (kind, printed) for name, kind, printed in rows}
