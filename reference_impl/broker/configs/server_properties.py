"""What a whole server.properties comes to: each setting is obeyed, harmless, unknown or refused.

Kafka starts with a file that names settings which it does not know, and warns; so does this. A
setting whose value means nothing, or that promises what nobody here keeps (`unobeyed`), ends the
start: all of them are named at once, for whoever brings a file has more than one line to change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from touchstone.reference_impl.broker.configs import (
    config_values,
    config_view,
    setting_names,
    unobeyed,
)
from touchstone.reference_impl.broker.configs.config_values import ValueRefused

OBEYED, HARMLESS, UNKNOWN, REFUSED = "obeyed", "harmless", "unknown", "refused"


class Meaning(NamedTuple):
    """`kind` is one of the four above; `why` is empty where a setting is obeyed."""

    name: str
    kind: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind:<8}  {self.name}{self.why and ': '}{self.why}"


def meanings(
    config: Mapping[str, str], release: str, *, keeps: bool, zookeeper: bool
) -> list[Meaning]:
    """Return what each setting comes to, in the order of the file.

    `keeps`: logs are on disk, `zookeeper`: the registry is kept there; both are options of the
    command line, and what says the same in the file is harmless without them.
    """
    elsewhere = {}
    if not keeps:
        elsewhere = dict.fromkeys(("log.dirs", "log.dir"), "logs are in memory without --data DIR")
    if not zookeeper:
        elsewhere["zookeeper.connect"] = "the registry is in this process without --zookeeper"
    return [_meaning(name, value, release, elsewhere) for name, value in config.items()]


def refused(found: Iterable[Meaning]) -> list[Meaning]:
    """Return those that end the start."""
    return [each for each in found if each.kind == REFUSED]


def _meaning(name: str, value: str, release: str, elsewhere: Mapping[str, str]) -> Meaning:
    definition = config_view.broker_definitions(release).get(name)
    if definition is not None:
        try:
            config_values.read(definition, value)
        except ValueRefused as fault:
            return Meaning(f"{name}={value}", REFUSED, str(fault))
    if why := unobeyed.refusal(name, value):
        return Meaning(f"{name}={value}", REFUSED, why)
    if definition is None and not setting_names.is_unlisted(name):
        wrong = setting_names.complaint(name)
        return Meaning(name, UNKNOWN, wrong or f"Kafka {release} has no such setting")
    if why := elsewhere.get(name) or unobeyed.harmless(name):
        return Meaning(name, HARMLESS, why)
    return Meaning(name, OBEYED)
