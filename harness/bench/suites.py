"""Cases per second of `pytest suites/`, on our broker and on a peer, from the rows they leave."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from touchstone.harness.bench.contest import Figure, Options, available_peers
from touchstone.harness.extras import need
from touchstone.harness.targets import command_config

SECONDS = 1800


def run(options: Options) -> Iterator[Figure]:
    ours, cases = rate(options, f"reference@{options.release}")
    for peer in available_peers(options, logs_in=True):
        theirs, _ = rate(options, peer)
        yield Figure(
            "suites", "all of suites/", round(ours, 1), "cases/s", peer, round(theirs, 1),
            notes={"cases": cases},
        )  # fmt: skip


def rate(options: Options, target: str) -> tuple[float, int]:
    """(cases per second including collection and start, how many)."""
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        need("pytest")
        suites = ["--pyargs", "touchstone.suites"]
        argv = [sys.executable, "-m", "pytest", *suites, "-q", "--target", target]
        argv += command_config.words()
        began = time.monotonic()
        subprocess.run(
            [*argv, "--results", folder], cwd=folder, stdout=subprocess.DEVNULL, check=False,
            timeout=SECONDS,
        )  # fmt: skip
        seconds = time.monotonic() - began
        count = sum(
            json.loads(line)["row"] == "case"
            for file in Path(folder).rglob("*.jsonl")
            for line in file.read_text(encoding="utf-8").splitlines()
        )
    options.say(f"suites on {target}: {count} cases in {seconds:.1f} s")
    return count / seconds, count
