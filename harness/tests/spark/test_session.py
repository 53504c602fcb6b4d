"""Which Java Spark can use, asked without starting Spark."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from touchstone.harness.spark import session

SAYS = "#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n"
LACKS = "#!/bin/sh\necho 'Error: module jdk.incubator.vector not found' >&2\nexit 1\n"


def java_home(folder: Path, script: str) -> str:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(script)
    java.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (SAYS.format(version="17.0.15"), None),
        (SAYS.format(version="25"), None),
        (SAYS.format(version="11.0.2"), "no Java 17 or later"),
        (SAYS.format(version="1.8.0_392"), "no Java 17 or later"),
        (LACKS, "lacks the module jdk.incubator.vector"),
        ("#!/bin/sh\necho nonsense\n", "no Java"),
    ],
)
def test_java_is_judged_by_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str | None
) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, script))
    said = session.why_not()
    assert said is None if reason is None else reason in said


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert session.why_not() == "no Java (neither JAVA_HOME nor a `java` on the path)"


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PACKAGES", ("pyspark", "no_such_package"))
    assert "no no_such_package (the extra spark): pip install 'pyspark" in session.why_not()


def test_nothing_spark_writes_is_in_the_working_directory(tmp_path: Path) -> None:
    chosen = session.settings(tmp_path, "local[*]", rows=0)
    assert chosen["spark.sql.warehouse.dir"].startswith(str(tmp_path))
    assert chosen["spark.local.dir"] == str(session.process_folder())
    assert not session.process_folder().is_relative_to(Path.cwd())


def test_a_remote_master_is_not_told_a_loopback_address(tmp_path: Path) -> None:
    assert session.settings(tmp_path, "local[2]", rows=0)["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in session.settings(tmp_path, "spark://elsewhere:7077", rows=0)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Who is started in the background by a shell ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_within_a_finalizer_is_heard_at_the_end() -> None:
    class Pressed:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    reached = []
    with pytest.raises(KeyboardInterrupt), session.no_interrupt_lost():
        Pressed()
        reached.append("the end")
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_what_is_under_way_at_once() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), session.no_interrupt_lost():
        signal.raise_signal(signal.SIGINT)
        reached.append("more")
    assert not reached


def test_who_ignores_interrupts_goes_on() -> None:
    before, reached = signal.signal(signal.SIGINT, signal.SIG_IGN), []
    with session.no_interrupt_lost():
        signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached and signal.signal(signal.SIGINT, before) is signal.SIG_IGN
