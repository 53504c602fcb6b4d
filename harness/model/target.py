"""What the harness may ask of a thing under test: five verbs and three values.

A target is named by the word a user types after `--target`; everything behind that word (a JVM, a
container, a recording, a socket somebody else opened) stays in `harness/targets/`. This file knows
none of them, so that scenario, driver and suites depend on a shape and never on Java or Docker.

Two rules hold for every target. It never answers "no" by raising from `available`: a missing tool
is a sentence ("no Java"), because a run must count what it did not do. And `start` is cached per
shape: the same shape returns the same endpoint until `stop`, so cases share one cluster and the
isolation between them is in their names, not in their processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from touchstone.harness.model.rights import Right

Address = tuple[str, int]
Versions = dict[int, tuple[int, int]]  # API key -> (lowest, highest) version advertised

LISTENERS = "listeners"  # the setting that names them
CLIENTS, CONTROLLER = "PLAINTEXT", "CONTROLLER"  # listeners that every target of ours has
KINDS = ("reference", "process", "container", "external", "recorded", "file")


class Unavailable(Exception):
    """This target cannot run on this machine; `reason` is what the run prints after "not run:"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OutOfScope(Unavailable):
    """The target has not what a claim is about: a setting, brokers, racks, a way to be harmed.

    Known before the case is judged. Such a case is not judged, counted and listed, and a run
    without it is complete.
    """


class StartFailed(Exception):
    """The target should have started and did not; the message names its logs and quotes them."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a target ended under a case."""

    how: str  # in words: "ended", or that it does not answer any more
    said: str = ""  # how its processes ended and what they said last; empty where nobody knows
    log: str = ""  # the end of all that they said in that life, where we started them


@dataclass(frozen=True, slots=True, init=False)
class Shape:
    """How large and how configured a cluster a scenario needs; equal shapes share one cluster.

    `racks[i]` is the rack of broker i, "" where it has none. `config` takes a mapping or pairs of
    broker settings by Kafka's names; it is kept as sorted pairs of strings, so a shape can be a
    dictionary key.
    """

    brokers: int
    racks: tuple[str, ...]
    config: tuple[tuple[str, str], ...]

    def __init__(
        self,
        brokers: int = 1,
        racks: Iterable[str] = (),
        config: Mapping[str, object] | Iterable[tuple[str, object]] = (),
    ) -> None:
        pairs = sorted((str(key), setting(value)) for key, value in dict(config).items())
        object.__setattr__(self, "brokers", brokers)
        object.__setattr__(self, "racks", tuple(racks))
        object.__setattr__(self, "config", tuple(pairs))
        if self.brokers < 1:
            raise ValueError(f"a cluster has at least one broker, not {self.brokers}")
        if self.racks and len(self.racks) != self.brokers:
            raise ValueError(f"{self.brokers} brokers but {len(self.racks)} racks: {self.racks}")

    @property
    def settings(self) -> dict[str, str]:
        return dict(self.config)

    def rack_of(self, broker: int) -> str | None:
        return self.racks[broker] or None if self.racks else None


def listener_names(config: Mapping[str, str]) -> tuple[str, ...]:
    """The listeners of clients that `listeners` names beside PLAINTEXT. A target that we start has
    them, each spoken to as its name says, at addresses that it chooses.
    """
    entries = config.get(LISTENERS, "").split(",")
    names = (entry.partition("://")[0].strip() for entry in entries)
    return tuple(name for name in names if name not in ("", CLIENTS, CONTROLLER))


def setting(value: object) -> str:
    """A setting as Kafka's properties files spell it: booleans are lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Setting:
    """A broker's setting in force; `dynamic`: it can be changed while the broker runs. `written`
    are its values by where its owner has written them (see `owner`), the first counts; `default` is
    Kafka's, where that is told.
    """

    value: str | None
    dynamic: bool = False
    written: tuple[tuple[int, str | None], ...] = ()
    default: str | None = None


class Node(Protocol):
    """One broker as the nemesis holds it. Every verb returns when its effect is complete."""

    def start(self) -> None:
        """Start it again with its own data and port, and wait until it serves."""

    def stop(self) -> None:
        """Ask it to shut down cleanly (SIGTERM) and wait until it is gone."""

    def kill(self) -> None:
        """End it without a chance to flush or say goodbye (SIGKILL)."""

    def pause(self) -> None:
        """Freeze it with its connections open (SIGSTOP)."""

    def resume(self) -> None:
        """Let a frozen one run on (SIGCONT)."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running cluster: where it listens, where its logs are, and its brokers to be harmed.

    `nodes` is empty when the target cannot be harmed from here (an external broker, a recording).
    `ids` are the ids of the brokers in the order of the scenario's numbers, `racks` theirs; both
    are empty where the harness gave the brokers their numbers itself. `settings` are those in
    force, of a cluster that did not get the shape's; None where it did. `internal` says of an
    internal topic how many partitions it has and which of them is the scenario's partition 0,
    where the cluster did not get the shape's settings; below 0 where the broker that is to lead it
    leads none. `listeners` are the addresses of listeners beside the first, by name, broker by
    broker in the order of the scenario's numbers. `finalized` are the levels of features that a
    cluster of somebody else's tells.
    """

    bootstrap: tuple[Address, ...]
    brokers: Mapping[int, Address] = field(default_factory=dict)
    logs: Path | None = None
    nodes: Mapping[int, Node] = field(default_factory=dict)
    ids: tuple[int, ...] = ()
    racks: tuple[str | None, ...] = ()
    settings: Mapping[str, Setting] | None = None
    internal: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    started: float | None = None  # by time.monotonic(), of a cluster that the harness starts
    listeners: Mapping[str, tuple[Address, ...]] = field(default_factory=dict)
    finalized: Mapping[str, int] = field(default_factory=dict)

    @property
    def coordinates_nothing(self) -> bool:
        """Whether the broker that claims expect to coordinate does not."""
        return any(place < 0 for _, place in self.internal.values())

    def __post_init__(self) -> None:
        object.__setattr__(self, "bootstrap", tuple(self.bootstrap))
        object.__setattr__(self, "brokers", MappingProxyType(dict(self.brokers)))
        object.__setattr__(self, "nodes", MappingProxyType(dict(self.nodes)))
        object.__setattr__(self, "listeners", MappingProxyType(dict(self.listeners)))


@runtime_checkable
class Target(Protocol):
    """Something that says it speaks Kafka."""

    name: str  # the word that named it: "kafka@4.3.1", "reference@2.8", "10.0.0.1:9092"
    release: str | None  # the short release it claims to be ("4.3"), None when nobody knows
    kind: str  # one of KINDS

    def available(self) -> str | None:
        """None when `start` has a chance here, else the reason in words ("no Java")."""

    def start(self, shape: Shape) -> Endpoint:
        """The endpoint of this shape, started on first use. Raises Unavailable or StartFailed."""

    def advertised(self) -> Versions:
        """What it advertises to clients, by its own ApiVersions answer (started if need be)."""

    def stop(self) -> None:
        """End everything `start` began and leave nothing behind; harmless when repeated."""


@runtime_checkable
class Twinned(Protocol):
    """A target of which there can be several: clusters of its own for cases that harm brokers."""

    @property
    def has_twins(self) -> bool: ...

    def twin(self) -> Target:
        """Another one like it, with clusters of its own."""


@runtime_checkable
class Somebodys(Protocol):
    """A target that may be run by somebody else: it is looked at before the first case."""

    def finds_nobody(self) -> str | None:
        """Why nobody can be asked anything there, in words; None where somebody can."""

    def missing_rights(self, prefix: str) -> frozenset[Right]:
        """Return what its user may not do with names that begin with this."""

    def where_clients_go(self) -> list[str]:
        """Return lines that say where its brokers send clients, and which of them are not there,
        or are not asked because nobody gave the address.
        """
