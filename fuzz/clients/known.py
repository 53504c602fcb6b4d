"""The clients that a campaign can be run against: how each program starts, under which limits.

A client that this machine lacks is a sentence ("no Go"), as a target is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.adapters import program
from touchstone.harness.adapters.process import Process
from touchstone.harness.adapters.program import MIB
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.cache import cache_dir, kept

PROGRAMS = Path(__file__).parent / "programs"
PACKAGE = "touchstone.fuzz.clients.programs"
FRANZ = PROGRAMS / "franz"
ALONE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOSUMDB": "off"}
GO_LIMITS = {"GOMEMLIMIT": "256MiB"}
KEYS = (0, 1, 2, 3, 8, 9, 10, 11, 14, 18)
"""APIs that any client asks while it writes and while a group reads."""
IDEMPOTENT = (*KEYS, 22)
BUILD_S = 300
RELEASE_OF_JAVA = "4.3"


@dataclass(frozen=True)
class Program(program.Program):
    """A client's program with the APIs that it uses; `growth` is how much resident memory, in
    bytes, one session may take: answers are a thousandth of that.
    """

    keys: tuple[int, ...] = KEYS
    growth: int = 160 * MIB

    def start(self) -> Process[Program]:
        return Process(self)


def python(module: str, name: str, keys: tuple[int, ...] = KEYS) -> Program:
    """Raises Unavailable when `module` is not installed."""
    return Program(program.python(f"{PACKAGE}.{name}", module), keys=keys)


def java() -> Program:
    """Kafka's own clients. Raises Unavailable."""
    command = program.java(PROGRAMS / "Program.java", RELEASE_OF_JAVA)
    return Program(command, None, keys=IDEMPOTENT, growth=400 * MIB)


def go() -> Program:
    """franz-go, built once: its modules must have been fetched. Raises Unavailable."""
    compiler = shutil.which("go")
    if compiler is None:
        raise Unavailable("no Go")
    sources = b"".join(path.read_bytes() for path in sorted(FRANZ.iterdir()))
    digest = hashlib.sha256(sources).hexdigest()[:8]
    folder = kept(cache_dir() / f"client-franz-{digest}", lambda made: build(compiler, made))
    return Program((str(folder / "franz"),), None, GO_LIMITS, keys=IDEMPOTENT)


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
