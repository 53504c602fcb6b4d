"""A client file: what somebody writes down about a client so that we can judge it.

    name = "mine"
    about = "Our client in Rust"
    version = "0.3"
    tried = "2026-11-25"            the day on which it was judged here; absent: not tried
    pins = "mine.pins.toml"         accepted divergences, beside this file

    [build]                         what is made once, as in a target file
    needs = ["cargo"]
    commands = [["cargo", "build", "--release"]]

    [start]
    command = ["{cache}/target/release/adapter"]
    needs = ["python:kafka"]
    kafka = "4.3"                   jars of this release, as {classpath}, and {java}
    environment = { RUST_LOG = "error" }
    seconds = 30                    until it says adapter_ready

Keys that a target file has too are read by the same rows (harness/targets/target_file.py).
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.harness.adapters.program import MIB, QUICK, SMALL, Program
from touchstone.harness.model.target import Unavailable
from touchstone.harness.names import did_you_mean
from touchstone.harness.targets import UnknownTarget, templates, tools
from touchstone.harness.targets.description import Build, Description
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.harness.targets.target_file import SCHEMA, beside, build_of, read_table, rows_of
from touchstone.harness.targets.templates import Command

SHIPPED = Path(__file__).resolve().parent / "files"
FILE, PINS = ".toml", ".pins.toml"
PLACEHOLDERS = ("python", "harness", "here", "cache", "java", "classpath", "release")
OF_A_TARGET = ("name", "about", "version", "release", "tried", "pins", "build")
_START = SCHEMA["start"]
FORM: Mapping[str, Mapping[str, Any]] = {
    "": {key: SCHEMA[""][key] for key in (*OF_A_TARGET, "start")},
    "start": {key: _START[key] for key in ("command", "needs", "environment")}
    | {
        "kafka": SCHEMA[""]["release"],
        "seconds": (SCHEMA["ready"]["seconds"][0], 30.0),
        "megabytes": (SCHEMA["build"]["seconds"][0], None),
    },
}


@dataclass(frozen=True, slots=True)
class Start:
    """How the adapter is started. `megabytes` limits its address space, None: no limit."""

    command: Command
    needs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    kafka: str | None = None
    seconds: float = 30.0
    megabytes: int | None = None


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A client file that has been read and checked."""

    file: Path
    name: str
    about: str
    version: str
    start: Start
    release: str | None = None
    tried: datetime.date | None = None
    pins: Path | None = None
    build: Build | None = None

    def program(self) -> Program:
        """What starts it; built first, where that is to be done. Raises Unavailable."""
        lacking = tools.missing(self.start.needs)
        if lacking:
            raise Unavailable(lacking)
        described = Description(
            self.file, self.name, self.about, self.version, self.release, build=self.build
        )
        values = tools.constants(described, tools.built(described))
        if self.start.kafka is not None:
            values["java"] = str(find_java().executable)
            values["classpath"] = class_path(kafka_home(self.start.kafka))
        spliced = {"java": [values.get("java", ""), *SMALL, *QUICK]}
        argv = templates.argv(self.start.command, values, spliced)
        limit = self.start.megabytes
        environment = {key: templates.fill(t, values) for key, t in self.start.environment.items()}
        environment.setdefault("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        return Program(tuple(argv), None if limit is None else limit * MIB, environment)


def shipped() -> dict[str, Path]:
    """The client files that come with the harness, by name."""
    files = (path for path in SHIPPED.glob(f"*{FILE}") if not path.name.endswith(PINS))
    return {path.name.removesuffix(FILE): path for path in sorted(files)}


def find(word: str) -> ClientFile:
    """The client that a word names: one of ours, or a file. Raises UnknownTarget."""
    if word.endswith(FILE):
        return load(Path(word).expanduser())
    if word not in shipped():
        known, hint = ", ".join(shipped()), did_you_mean(word, shipped())
        raise UnknownTarget(
            f"client {word!r}: give a file (NAME{FILE}), or one of ours: {known}{hint}"
        )
    return load(shipped()[word])


def load(file: Path) -> ClientFile:
    """The file as a ClientFile. Raises UnknownTarget with one line that says what to mend."""
    found = read_table(file, "", rows_of(file), FORM)
    if found["start"] is None:
        raise UnknownTarget(f"target file {file}: start: it is missing; a client has a command")
    start = read_table(file, "start", found["start"], FORM)
    if start["command"] is None:
        raise UnknownTarget(f"target file {file}: start.command: it is missing")
    unknown = templates.unknown(templates.words(start["command"]), PLACEHOLDERS)
    if unknown:
        known = ", ".join(PLACEHOLDERS)
        raise UnknownTarget(
            f"target file {file}: start.command: {{{unknown}}} is no placeholder; there are {known}"
        )
    found["pins"] = beside(file, "pins", found["pins"])
    found["build"] = build_of(file, found["build"])
    return ClientFile(**{**found, "file": file, "start": Start(**start)})
