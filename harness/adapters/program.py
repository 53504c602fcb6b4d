"""What it takes to start a client's program: its command, and what limits it.

A client that this machine lacks is a sentence ("no Go"), as a target is.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.harness.extras import absent
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home

MIB = 1 << 20
SMALL = (
    "-Xmx128m", "-XX:MaxDirectMemorySize=64m",
    "-XX:+ExitOnOutOfMemoryError", "-XX:+DisplayVMOutputToStderr",  # which says why it exits
)  # fmt: skip
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass(frozen=True)
class Program:
    """A client's program. `address_space` is in bytes, None where the runtime reserves more than it
    uses and limits itself (then `command` says how).
    """

    command: tuple[str, ...]
    address_space: int | None = 4096 * MIB
    environment: Mapping[str, str] = field(default_factory=dict)


def python(module: str, package: str) -> tuple[str, ...]:
    """The command of a module that needs another package. Raises Unavailable."""
    if importlib.util.find_spec(package) is None:
        raise Unavailable(absent(package))
    return (sys.executable, "-X", "faulthandler", "-m", module)


def java(source: Path, release: str) -> tuple[str, ...]:
    """The command of one Java file with Kafka's own clients of a release. Raises Unavailable."""
    found, jars = find_java(), class_path(kafka_home(release))
    return (str(found.executable), *SMALL, *QUICK, "-cp", jars, str(source))
