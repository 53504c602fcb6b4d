"""The clients that a campaign can be run against: how each program starts, under which limits.

A client that this machine lacks is a sentence ("no Go"), as a target is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home

PROGRAMS = Path(__file__).parent / "programs"
PACKAGE = "touchstone.fuzz.clients.programs"
FRANZ = PROGRAMS / "franz"
ALONE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOSUMDB": "off"}
GO_LIMITS = {"GOMEMLIMIT": "256MiB"}
MIB = 1 << 20
KEYS = (0, 1, 2, 3, 8, 9, 10, 11, 14, 18)
"""APIs that any client asks while it writes and while a group reads."""
IDEMPOTENT = (*KEYS, 22)
BUILD_S = 300
RELEASE_OF_JAVA = "4.3"


@dataclass(frozen=True)
class Program:
    """A client's program: its command, the APIs that it uses, and what limits it.

    `address_space` is in bytes, None where the runtime reserves more than it uses and limits
    itself (then `command` says how); `growth` is how much resident memory, in bytes, one session
    may take: answers are a thousandth of that.
    """

    command: tuple[str, ...]
    keys: tuple[int, ...] = KEYS
    address_space: int | None = 4096 * MIB
    growth: int = 160 * MIB
    environment: Mapping[str, str] = field(default_factory=dict)


def python(module: str, name: str, keys: tuple[int, ...] = KEYS) -> Program:
    """Raises Unavailable when `module` is not installed."""
    if importlib.util.find_spec(module) is None:
        raise Unavailable(f"no Python package {module!r}")
    command = (sys.executable, "-X", "faulthandler", "-m", f"{PACKAGE}.{name}")
    return Program(command, keys)


def java() -> Program:
    """Kafka's own clients. Raises Unavailable."""
    found, jars = find_java(), class_path(kafka_home(RELEASE_OF_JAVA))
    limits = ("-Xmx128m", "-XX:MaxDirectMemorySize=64m", "-XX:+ExitOnOutOfMemoryError")
    quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    command = (str(found.executable), *limits, *quick, "-cp", jars, str(PROGRAMS / "Program.java"))
    return Program(command, IDEMPOTENT, None, 400 * MIB)


def go() -> Program:
    """franz-go, built once: its modules must have been fetched. Raises Unavailable."""
    compiler = shutil.which("go")
    if compiler is None:
        raise Unavailable("no Go")
    sources = b"".join(path.read_bytes() for path in sorted(FRANZ.iterdir()))
    digest = hashlib.sha256(sources).hexdigest()[:8]
    folder = kept(cache_dir() / f"client-franz-{digest}", lambda made: build(compiler, made))
    return Program((str(folder / "franz"),), IDEMPOTENT, None, environment=GO_LIMITS)


def build(compiler: str, folder: Path) -> None:
    """The program in this folder, from modules that are stored. Raises Unavailable."""
    done = subprocess.run(
        [compiler, "build", "-o", str(folder / "franz"), "."], cwd=FRANZ, check=False,
        env=os.environ | ALONE, capture_output=True, text=True, timeout=BUILD_S,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise Unavailable(f"franz-go does not build (go mod download in {FRANZ.name}): {last}")


CLIENTS: Mapping[str, Callable[[], Program]] = {
    "librdkafka": lambda: python("confluent_kafka", "librdkafka", IDEMPOTENT),
    "kafka-python": lambda: python("kafka", "kafka_python"),
    "aiokafka": lambda: python("aiokafka", "aiokafka_", IDEMPOTENT),
    "java": java,
    "franz-go": go,
}
