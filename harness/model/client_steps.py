"""What a scenario asks of a client, and what its broker does to it meanwhile, as data.

A client under judgement is behind an adapter: a program that takes commands and says events, JSON
lines both (docs/adapter.md). Steps of a scenario (harness/model/scenario.py) that ask a broker go
past the client, straight to its broker: they prepare, and look at what the client left there. The
steps of this file are for the client. Each request of the client crosses a proxy, which notes it.

A wait has the deadline of any step. One that ends in vain ends the case, and what it waited for is
missing from the transcript: an expectation says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.reference_impl.wire.apis import by_name

OPEN = "open"  # the command that makes a client; the runner adds whom it connects to, and its id


@dataclass(frozen=True, slots=True)
class Tell:
    """Give a client of the adapter a command; its events are waited for by `Hear`."""

    command: str
    client: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait until a client has said an event `count` times since the case began.

    `where` are fields that the event must have. With `field` its values are summed up in place of
    counting events, of a list its length: Hear("records_consumed", "c", 10, field="count") waits
    for ten records.
    """

    event: str
    client: str
    count: int = 1
    where: Mapping[str, Any] = field(default_factory=dict)
    field: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Wait until `count` requests of an API have crossed the proxy since the case began, or since
    the step `since` did. With `more` it is so many more than when this step began.
    """

    api: str
    count: int = 0
    more: int = 0
    since: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        by_name(self.api)


@dataclass(frozen=True, slots=True)
class Spoil:
    """Put a rule of the reference broker's fault plan in force (broker/faults/fault_plan.py)."""

    rule: Mapping[str, Any]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Let the proxy change a field of the broker's answers of an API: of the `nth` that has it and
    `times` - 1 behind it (0: all of them).

    `path` names the field; `[*]` in it stands for every element. A field `_tags` takes tagged
    fields that nobody knows. Where there are `records`, bytes as `value` take their place, and a
    number turns one byte over, that many from their end. `where` has values that the struct which
    holds the field must have, by their names.
    """

    api: str
    path: str
    value: Any = None
    nth: int = 1
    times: int = 1
    name: str | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_name(self.api)


@dataclass(frozen=True, slots=True)
class Mend:
    """End every `Spoil` and `Change` of this case."""

    name: str | None = None


CLIENT_STEPS = (Tell, Hear, Watch, Spoil, Change, Mend)
ClientStep = Tell | Hear | Watch | Spoil | Change | Mend


def label_of(step: ClientStep, index: int) -> str:
    """What a step is called: its name, else what it does."""
    if step.name:
        return step.name
    match step:
        case Tell(command, client):
            return f"{client}: {command}#{index}"
        case Hear(event, client):
            return f"{client} says {event}#{index}"
        case Watch(api):
            return f"{api} is asked#{index}"
        case Spoil(rule):
            return f"{rule.get('action')} {rule.get('api', 'any')}#{index}"
        case Change(api, path):
            return f"{api}.{path} is changed#{index}"
        case _:
            return f"mend#{index}"
