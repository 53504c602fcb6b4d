"""The whole of the suites can be asked of any one release, also one that lacks some of the APIs.

The ledger is complete over the union of releases. A run on 1.0 alone has no case of a claim about
an API that came later, and must not take that API's cells for unclassified.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness import advertised, detection

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("release", sorted(advertised.tables()))
def test_the_suites_collect_on_one_release(release: str) -> None:
    words = ["suites/", "--target", f"reference@{release}", "--collect-only", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_every_claim_has_a_case_somewhere() -> None:
    """Releases and versions that exclude one another would make a claim that nobody ever tries."""
    claims = [claim for claim, _ in detection.functions().values()]
    tables = advertised.tables()
    never = [
        claim.id
        for claim in claims
        if not any(claim.cases(release, table) for release, table in tables.items())
    ]
    assert claims and not never
