"""The same report on a Spark cluster: a standalone master and a worker of its own, on loopback.

The worker is a process of its own with its own class path, so this shows that nothing in the jobs
depends on sharing a JVM or a Python with the driver.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from touchstone.harness.cli import report
from touchstone.harness.tests.spark.golden import PRODUCTS, golden

pytestmark = [
    pytest.mark.spark, pytest.mark.slow, pytest.mark.nightly, pytest.mark.usefixtures("spark_here"),
]  # fmt: skip

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
HANGS_S = 1_800  # four JVMs on a busy machine of two cores take minutes for what they do
LINES = 400  # of a start that must have said by then what is waited for


def started(log: str, arguments: list[str], work: Path) -> tuple[subprocess.Popen, str]:
    """A Spark daemon, and what `log` (a pattern with one group) found in its log."""
    daemon = subprocess.Popen(
        [SPARK_CLASS, *arguments],
        cwd=work,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_DIRS": str(work)},
    )
    seen = []
    for _ in range(LINES):
        line = daemon.stderr.readline()
        seen.append(line)
        found = re.search(log, line)
        if found:
            return daemon, found[1]
        if not line:
            break
    stop(daemon)
    raise AssertionError("".join(seen))


def stop(daemon: subprocess.Popen) -> None:
    daemon.terminate()
    daemon.communicate(timeout=HANGS_S)


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The URL of a running cluster with one worker."""
    loopback = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    first, url = started(r"Starting Spark master at (spark://\S+)", [MASTER, *loopback], tmp_path)
    try:
        worker = [WORKER, *loopback, "--cores", "2", "--memory", "2g"]
        asked = [*worker, "--work-dir", str(tmp_path / "work"), url]
        second, _ = started(r"Successfully registered with (master)", asked, tmp_path)
        try:
            yield url
        finally:
            stop(second)
    finally:
        stop(first)


def test_a_cluster_writes_the_bytes_that_this_machine_writes(
    made_report: tuple[Path, dict], tmp_path: Path, master: str
) -> None:
    golden(tmp_path / "results")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "touchstone",
            "report",
            "results",
            "--out",
            "out",
            "--master",
            master,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_S,
    )
    assert done.returncode == report.WRITTEN, done.stderr
    assert f"starting Spark on {master}" in done.stderr
    assert list((tmp_path / "work").glob("app-*")), "the worker never ran an application"
    for name in PRODUCTS:
        assert (tmp_path / "out" / name).read_bytes() == (
            made_report[0] / "out" / name
        ).read_bytes()
