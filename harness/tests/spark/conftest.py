"""One JVM and one golden report for all of these tests. A machine without Java counts them as not
run, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.harness.cli.report import NAMES
from touchstone.harness.spark import session
from touchstone.harness.tests.spark.golden import golden, written


@pytest.fixture(scope="session")
def spark_here() -> None:
    """Tests that start Spark ask for this."""
    reason = session.why_not()
    if reason:
        pytest.skip(f"not run: {reason}")


@pytest.fixture(scope="session")
def made_report(tmp_path_factory: pytest.TempPathFactory, spark_here: None) -> tuple[Path, dict]:
    """A folder with the golden `results` and the report on them in `out`; and its summary."""
    folder = tmp_path_factory.mktemp("golden")
    return folder, written(golden(folder / "results"), folder / "out", names=NAMES)
