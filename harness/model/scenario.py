"""A scenario: what is asked of a target, in which order, as data.

Nothing here acts. Steps are frozen values that survive JSON, so a scenario can be hashed
(`fingerprint`), stored beside its transcript, mailed, shrunk and sent again; the driver alone gives
them time and sockets. A scenario says nothing about what is right: expectations belong to claims.

Every step has a label, unique in its scenario, by which answers, differences and findings are
named: the given `name`, or the API's name with the step's number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from touchstone.harness.model import placeholders
from touchstone.harness.model.client_steps import CLIENT_STEPS, ClientStep, label_of
from touchstone.harness.model.placeholders import (
    PLACEHOLDERS,
    Controller,
    Coordinator,
    Frame,
    Joined,
    Leader,
    Name,
    Now,
    Records,
    Ref,
    TopicId,
)
from touchstone.harness.model.target import Shape

__all__ = [
    "Ask", "Await", "Close", "Controller", "Coordinator", "Frame", "HalfClose", "Inflict", "Joined",
    "Leader", "Name", "Now", "Open", "Quiet", "Raw", "Records", "Ref", "Scenario", "Send",
    "TopicId", "Until", "asked",
]  # fmt: skip

CLIENT_ID = "touchstone"
MAIN = "a"
EXPECTED = ("answer", "close", "any", "silence")
FAULTS = ("kill", "stop", "pause", "resume", "start")  # verbs of a Node (harness/model/target.py)

BrokerChoice = int | Leader | Controller | Coordinator | Ref  # an id, or how to find the broker


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a request and await its answer; with `answer=False` send it and go on (acks=0)."""

    api: str
    version: int
    body: Mapping[str, Any]
    name: str | None = None
    connection: str | None = None
    broker: BrokerChoice | None = None
    client_id: str | Name | None = CLIENT_ID
    answer: bool = True


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request and go on; `Await` its label later, or never."""

    api: str
    version: int
    body: Mapping[str, Any]
    name: str
    connection: str | None = None
    broker: BrokerChoice | None = None
    client_id: str | Name | None = CLIENT_ID


@dataclass(frozen=True, slots=True)
class Await:
    """Await the answer of an earlier `Send` or `Raw`."""

    name: str


@dataclass(frozen=True, slots=True)
class Raw:
    """Send bytes as they are: malformed frames, half frames, other protocols.

    `framed` puts the four size bytes in front. `expect` says how long to look: until an answer, a
    close, either ("any"), or a bounded silence; what is seen is recorded, whatever it is. An answer
    is decoded as `api` and `version` when they are given.
    """

    data: bytes | Frame | Joined | Records
    name: str | None = None
    connection: str | None = None
    broker: BrokerChoice | None = None
    framed: bool = True
    expect: str = "any"
    api: str | None = None
    version: int | None = None

    def __post_init__(self) -> None:
        if self.expect not in EXPECTED:
            raise ValueError(f"expect must be one of {EXPECTED}, not {self.expect!r}")


@dataclass(frozen=True, slots=True)
class Until:
    """Ask again until a condition on the decoded answer holds; only the last round trip is kept.

    `also` holds further (path, op, value) conditions, all of which must hold at once. What to do
    when the tries are used up is not a choice: the case ends, its later steps are not attempted.
    """

    ask: Ask
    path: str
    op: str
    value: Any
    also: tuple[tuple[str, str, Any], ...] = ()

    @property
    def conditions(self) -> tuple[tuple[str, str, Any], ...]:
        return ((self.path, self.op, self.value), *self.also)


@dataclass(frozen=True, slots=True)
class Open:
    """Open a connection without sending anything; by a `listener`, where one is named."""

    connection: str | None = None
    broker: BrokerChoice | None = None
    listener: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection from our side."""

    connection: str = MAIN


@dataclass(frozen=True, slots=True)
class HalfClose:
    """End our direction of a connection and go on reading."""

    connection: str = MAIN


@dataclass(frozen=True, slots=True)
class Quiet:
    """Look at a connection for a while during which nothing should come.

    `least_ms` is how long at the least, where something that comes wrongly would come that late.
    """

    connection: str = MAIN
    name: str | None = None
    least_ms: int = 0


@dataclass(frozen=True, slots=True)
class Inflict:
    """Do something to a broker and go on when it is done: one of FAULTS.

    Connections to a broker that is started again begin anew. Whatever was done is undone when the
    case is over, so that the next case meets a whole cluster.
    """

    fault: str
    broker: BrokerChoice
    name: str | None = None

    def __post_init__(self) -> None:
        if self.fault not in FAULTS:
            raise ValueError(f"fault must be one of {FAULTS}, not {self.fault!r}")


Step = Ask | Send | Await | Raw | Until | Open | Close | HalfClose | Quiet | Inflict | ClientStep
STEPS = (Ask, Send, Await, Raw, Until, Open, Close, HalfClose, Quiet, Inflict, *CLIENT_STEPS)
TYPES: dict[str, type] = {kind.__name__: kind for kind in (*STEPS, *PLACEHOLDERS)}


@dataclass(frozen=True)
class Scenario:
    """Steps and the shape of the cluster they want. Nested step lists are flattened.

    What follows from them is worked out once: a case asks for it many times. No slots, therefore.
    """

    steps: tuple[Step, ...]
    brokers: int = 1
    racks: tuple[str, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(_flat(self.steps)))
        object.__setattr__(self, "racks", tuple(self.racks))
        labels = self.labels
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f"two steps are named {', '.join(sorted(twice))}")

    @property
    def shape(self) -> Shape:
        return Shape(brokers=self.brokers, racks=self.racks, config=self.config)

    @property
    def is_of_client(self) -> bool:
        """Whether it asks something of a client."""
        return any(isinstance(step, CLIENT_STEPS) for step in self.steps)

    @property
    def harms(self) -> bool:
        """Whether it can only run where brokers can be killed and paused."""
        return any(isinstance(step, Inflict) for step in self.steps)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(label(step, index) for index, step in enumerate(self.steps))

    def to_json(self) -> dict[str, Any]:
        """The same object every time: not to be changed."""
        return self._json

    @cached_property
    def _json(self) -> dict[str, Any]:
        return {
            "brokers": self.brokers,
            "racks": list(self.racks),
            "config": dict(self.config),
            "steps": [placeholders.to_json(step, TYPES) for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scenario:
        steps = tuple(placeholders.from_json(step, TYPES) for step in data["steps"])
        return cls(steps, data["brokers"], tuple(data["racks"]), data["config"])

    def fingerprint(self) -> str:
        """Equal for equal scenarios on every machine; changes when any byte asked for changes."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def asked(step: Step) -> Step:
    """What a step asks: the question of a wait, else the step itself."""
    return step.ask if isinstance(step, Until) else step


def label(step: Step, index: int) -> str:
    """The step's given name, else a name made of what it does and where it stands."""
    step = asked(step)
    if isinstance(step, CLIENT_STEPS):
        return label_of(step, index)
    if isinstance(step, Await):
        return f"await {step.name}"
    given = getattr(step, "name", None)
    if isinstance(step, Inflict):
        return given or f"{step.fault} {broker_word(step.broker)}#{index}"
    return given or f"{getattr(step, 'api', None) or type(step).__name__}#{index}"


def connection_of(step: Step) -> str:
    """The connection's name: as given, else after the broker it goes to, else the main one."""
    step = asked(step)
    broker = getattr(step, "broker", None)
    implied = MAIN if broker is None else broker_word(broker)
    return getattr(step, "connection", None) or implied


def broker_word(broker: BrokerChoice) -> str:
    """How a broker choice is called; equal on every target, whichever broker it turns out to be."""
    match broker:
        case Leader(topic, partition):
            return f"leader of {_word(topic)}/{partition}"
        case Controller(other):
            return "another than the controller" if other else "controller"
        case Coordinator(key, key_type):
            return f"coordinator of {_word(key)}" + ("" if key_type == 0 else f" ({key_type})")
        case Ref(step, path):
            return f"broker of {path} in {step}"
        case int():
            return f"broker {broker}"
    raise TypeError(f"not a choice of broker: {broker!r}")


def _word(value: Any) -> str:
    return f"${value.key}" if isinstance(value, Name) else str(value)


def _flat(steps: Any) -> Iterable[Step]:
    for step in steps:
        if isinstance(step, list | tuple):
            yield from _flat(step)
        elif isinstance(step, STEPS):
            yield step
        else:
            raise TypeError(f"not a step: {step!r}")
