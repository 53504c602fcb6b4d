"""How a planted defect of a client is written down, and the means of which defects are made.

Four things can be changed: commands that the adapter gets (another configuration than the claim
wants), requests on their way to the broker, before they are noted, answers behind the place where
they are noted (a client that does not look at a field), and events that the adapter says. Our own
client can be given one of its defects besides (touchstone/reference_impl/client/defects).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

Row = dict[str, Any]
Rewrite = Callable[[Row], "Row | None"]  # of a command or an event; None: as if it were not there
Lie = Callable[[int, int, headers.Request], "Row | bool | None"]
Mishear = Callable[[int, Row], "Row | None"]  # of an answer; None: it never comes
CONFIG = "config"


@dataclass(frozen=True)
class Liar:
    """One defect: a sentence, and makers of what changes things, each with its own memory."""

    sentence: str
    commands: Callable[[], Rewrite] | None = None
    requests: Callable[[], Lie] | None = None
    answers: Callable[[], Mishear] | None = None
    events: Callable[[], Rewrite] | None = None


HONEST = Liar("Nothing is changed.")


def setting(key: str, value: str, only: str | None = None) -> Callable[[], Rewrite]:
    """Clients are opened with this setting, whatever they were to have; `only` of a kind."""

    def rewrite(row: Row) -> Row:
        if row["command"] != "open" or only not in (None, row["kind"]):
            return row
        return row | {CONFIG: row[CONFIG] | {key: value}}

    return lambda: rewrite


def settings(only: str, **values: str) -> Callable[[], Rewrite]:
    def rewrite(row: Row) -> Row:
        if row["command"] != "open" or row["kind"] != only:
            return row
        own = {key.replace("_", "."): value for key, value in values.items()}
        if "transactional.id" in row[CONFIG]:
            return row | {CONFIG: {k: v for k, v in row[CONFIG].items() if k != "transactional.id"}}
        return row | {CONFIG: row[CONFIG] | own}

    return lambda: rewrite


def records_of(change: Callable[[Row, int], Row]) -> Callable[[], Rewrite]:
    """Each record that is to be sent is another one; `change` gets it with its place."""

    def rewrite(row: Row) -> Row:
        if row["command"] != "send":
            return row
        return row | {"records": [change(one, at) for at, one in enumerate(row["records"])]}

    return lambda: rewrite


def command(word: str, change: Callable[[Row], Row | None]) -> Callable[[], Rewrite]:
    return lambda: lambda row: change(row) if row["command"] == word else row


def event(name: str, change: Callable[[Row], Row | None]) -> Callable[[], Rewrite]:
    return lambda: lambda row: change(row) if row["name"] == name else row


def request(api: str, change: Callable[[Row], Row | bool | None]) -> Callable[[], Lie]:
    """`change` gives another body, False for no request at all, None for the same."""
    key = by_name(api).key
    return lambda: lambda found, version, one: change(one.body) if found == key else None


def answer(api: str, change: Callable[[Row], Row | None]) -> Callable[[], Mishear]:
    key = by_name(api).key
    return lambda: lambda found, body: change(body) if found == key else body


PLANT = "touchstone.defect"  # the setting by which our own client is given a defect of its own


def planted(name: str, kind: str) -> Callable[[], Rewrite]:
    """Clients of a kind have this defect of `reference_impl/client/defects`; ours alone can."""
    return setting(PLANT, name, kind)


def requests(*apis: str, change: Callable[[Row], Row | bool | None]) -> Callable[[], Lie]:
    """`request` of several APIs."""
    keys = {by_name(api).key for api in apis}
    return lambda: lambda found, version, one: change(one.body) if found in keys else None


def fields(**values: Any) -> Callable[[Row], Row]:
    """Those of these fields that a body has are other ones."""
    return lambda body: body | {key: value for key, value in values.items() if key in body}
