"""What a target file says, as values: how to reach or start a broker, and what to know of it.

`target_file` reads and checks these; `described` makes a target of them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.harness.model.target import Address
from touchstone.harness.targets import templates
from touchstone.harness.targets.templates import Command

VERBS = ("start", "stop", "kill", "pause", "resume")
PER = ("broker", "cluster")
CARRIERS = ("arguments", "environment", "file")
PLACEHOLDERS: dict[str, str] = {
    # name: what it stands for, in a command, a variable or a file of [start]
    "cache": "the folder that [build] filled",
    "here": "the folder of the target file",
    "python": "this Python",
    "harness": "the package of this harness, for its own launchers",
    "release": "the release the file names",
    "host": "where it has to listen",
    "port": "this broker's port (of one process for all: the first broker's)",
    "ports": "every broker's port, separated by commas",
    "bootstrap": "every broker's HOST:PORT, separated by commas",
    "node": "this broker's id",
    "nodes": "every broker's id, separated by commas",
    "brokers": "how many brokers",
    "rack": "this broker's rack, or nothing",
    "racks": "every broker's rack, separated by commas, or nothing",
    "cluster": "an identifier of the cluster as Kafka spells them",
    "folder": "this process's own folder, its working directory",
    "data": "a folder for its log",
    "settings": "the settings that are handed over",
}
OF_A_SETTING = ("key", "key_", "KEY", "value")
_RACKS = {"rack", "racks"}


@dataclass(frozen=True, slots=True)
class Build:
    """What is made once and kept in the cache."""

    commands: tuple[Command, ...]
    needs: tuple[str, ...] = ()
    files: Path | None = None
    seconds: int = 1800


@dataclass(frozen=True, slots=True)
class Handover:
    """How a broker is given settings.

    `known` are those that it takes (none listed: all), `names` its own names for some of them.
    """

    carrier: str
    each: tuple[str, ...]
    known: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def takes(self, setting: str) -> bool:
        """Whether it can be given this setting."""
        return setting in self.known or setting in self.names or not (self.known or self.names)

    def rendered(self, settings: Mapping[str, str]) -> list[str]:
        """What each setting comes to, by the names that the broker has for them."""
        return [
            templates.fill(word, templates.spellings(self.names.get(key, key), value))
            for key, value in settings.items()
            for word in self.each
        ]


@dataclass(frozen=True, slots=True)
class Before:
    """A process that has to run before the brokers do (a ZooKeeper, a database)."""

    name: str
    command: Command
    environment: Mapping[str, str] = field(default_factory=dict)
    output: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """How a cluster is started."""

    command: Command
    image: str | None = None
    publish: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    per: str = "broker"
    brokers: tuple[int, ...] | None = (1,)
    first_node: int = 0
    host: str = "127.0.0.1"
    port: int | None = None
    other_ports: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    settings: Handover | None = None
    before: tuple[Before, ...] = ()

    @property
    def takes_racks(self) -> bool:
        """Whether a template of it mentions racks."""
        return any(templates.names(text) & _RACKS for text in self.texts())

    def texts(self) -> Iterator[str]:
        """Every template except those of `before` and of `settings`."""
        yield from templates.words(self.command)
        yield from (*self.environment.values(), *self.files.values(), *self.publish)
        yield from self.lists.values()


@dataclass(frozen=True, slots=True)
class Ready:
    """When a started cluster counts as ready, beside answering ApiVersions and Metadata."""

    output: re.Pattern[str] | None = None
    controller: bool = False
    seconds: float = 60.0

    @property
    def tells_addresses(self) -> bool:
        """Whether the broker chooses its ports and writes them down."""
        return self.output is not None and "addresses" in self.output.groupindex


@dataclass(frozen=True, slots=True)
class Description:
    """A target file that has been read and checked."""

    file: Path
    name: str
    about: str
    version: str
    release: str | None = None
    tried: datetime.date | None = None
    pins: Path | None = None
    address: tuple[Address, ...] = ()
    control: Mapping[str, Command] = field(default_factory=dict)
    build: Build | None = None
    start: Start | None = None
    ready: Ready = Ready()
    settings: Mapping[str, str] = field(default_factory=dict)
    command_config: Path | None = None  # properties that say how to log in
    client: Mapping[str, str] = field(default_factory=dict)  # or these
