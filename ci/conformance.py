"""`make conformance`: judge the reference broker's personas, then aggregate and show the result.

One pytest run judges every target named; `touchstone report` turns its rows into tables and a
dashboard. The judgement does not depend on the dashboard: where Java is missing the table is still
printed, and the missing dashboard is said loudly, but the exit code is the judgement's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PERSONAS = [f"reference@{release}" for release in ("1.0", "2.2", "2.8", "3.9", "4.3")]
NOT_RUN = 4  # `touchstone report`: the rows are fine, Spark cannot start here


def runs(results: Path) -> set[str]:
    """The run folders below a results folder, by path."""
    return {str(path.parent) for path in results.glob("*/manifest.json")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", help="default: the five personas")
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    targets = [part for t in arguments.target or PERSONAS for part in ("--target", t)]
    before = runs(arguments.results)
    judged = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "suites/", *targets]
        + ["--results", str(arguments.results)],
        cwd=ROOT,
        check=False,
    ).returncode
    # Only this run is shown: an older one that was cut off must not spoil today's dashboard. The
    # trend over many runs is `touchstone report results/ --out DIR`, for whoever keeps them.
    fresh = sorted(runs(arguments.results) - before)
    if judged in (0, 1, 3) and fresh:
        report = ["report", *fresh, "--out", str(arguments.results / "dashboard")]
        shown = subprocess.run(
            [sys.executable, "-m", "harness", *report], cwd=ROOT, check=False
        ).returncode
        if shown not in (0, NOT_RUN):
            print(f"touchstone: the report failed with exit code {shown}", file=sys.stderr)
            return judged or 2
    return judged


if __name__ == "__main__":
    sys.exit(main())
