"""Which names of broker settings there are, for whoever mistypes one.

Kafka takes any name and warns of those that it does not know, since a plugin may want them. There
are no plugins here, so a name that no release has is a mistake; one that another release has is
none: the same settings are given to many releases.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.personas.releases import RELEASES

# Kafka has a setting of the first for each listener; the second are properties of its JVM, which
# are given here as settings.
PREFIXES = ("listener.name.", "org.apache.kafka.")
# Kafka's own, that DescribeConfigs never lists: of its authorizer, and internal ones.
UNLISTED = frozenset(
    {
        "allow.everyone.if.no.acl.found",
        "log.initial.task.delay.ms",
        "producer.id.expiration.check.interval.ms",
        "share.coordinator.cold.partition.snapshot.interval.ms",
        "share.coordinator.state.topic.prune.interval.ms",
        "super.users",
        "unstable.api.versions.enable",
        "unstable.feature.versions.enable",
    }
)


def is_unlisted(name: str) -> bool:
    """Whether Kafka obeys it, though DescribeConfigs does not list it as a setting of its own."""
    return name in UNLISTED or name.startswith(PREFIXES)


def complaint(name: str) -> str | None:
    """Return what is wrong with a name that no release of Kafka has; None for every other."""
    if is_unlisted(name):
        return None
    known = {one for release in RELEASES for one in broker_definitions(release)}
    return None if name in known else f"no Kafka has a setting {name!r}{nearest(name, known)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: what may have been meant, or nothing."""
    difflib = importlib.import_module("difflib")  # only then: start-up is a promise
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
