"""A machine without Java counts these tests as not run, and says so."""

from __future__ import annotations

import pytest

from harness.spark import session


@pytest.fixture(scope="session")
def spark_here() -> None:
    """Tests that start Spark ask for this. The JVM of the first is shared by the rest."""
    reason = session.why_not()
    if reason:
        pytest.skip(f"not run: {reason}")
