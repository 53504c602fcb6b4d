"""The metrics that our client serves are Java's: each group, name and set of tags, of 4.3.1."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.reference_impl.client.metrics.names import METRICS

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
PROGRAM = Path(__file__).with_name("ClientMetrics.java")


@pytest.fixture(scope="module")
def of_java() -> set[str]:
    try:
        jars = class_path(kafka_home("4.3.1"))
        command = [str(find_java().executable), *QUICK, "-cp", jars, str(PROGRAM)]
    except Unavailable as missing:
        pytest.skip(f"not run: {missing}")
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return set(run.stdout.splitlines())


def test_each_of_ours_is_one_of_java_s(of_java):
    ours = {
        f"{metric.group} {metric.name} [{', '.join(sorted({*metric.tags, 'client-id'}))}]"
        for rows in METRICS.values()
        for metric in rows
    }
    assert sorted(ours - of_java) == []
    assert "producer-metrics record-send-rates [client-id]" not in of_java
