"""What valid requests may name: topics, members of groups, producers, sessions, as data.

Most names the fuzzer chooses itself; some values only the target can say (the id of a topic, of a
member of a classic group, of a producer, of a fetch session). `preparation` makes both true on a
target and returns what it said; `World()` is what is drawn from where nobody was asked: the same
shape with made-up ids. Entities stand by kind, so that what one API ends (a member that leaves, a
transaction that is committed) is not what another one needs. Which field means which kind is
`roles.toml`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

TOPICS = tuple(f"fuzz-{letter}" for letter in "abcd")
ABSENT = "fuzz-absent"
# By kind. "new" ones are created by cases, "spare" ones deleted; all but the new exist in a
# prepared target.
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "kept": TOPICS,
    "produced": TOPICS,
    "new": tuple(f"fuzz-new-{number}" for number in range(48)),
    "spare": tuple(f"fuzz-spare-{number}" for number in range(48)),
    "trimmed": ("fuzz-trimmed",),
    "grown": tuple(f"fuzz-grown-{number}" for number in range(8)),
    "marked": ("fuzz-marked",),
    "transacted": ("fuzz-transacted",),
    "configured": ("fuzz-configured",),
})  # fmt: skip
LASTING = tuple(sorted({name for kind, names in NAMES.items() if kind != "new" for name in names}))
"""The topics that exist in a prepared target."""
UUID = bytes(range(16))
CONSUMED = TOPICS[0]
"""The topic that members subscribe to."""


@dataclass(frozen=True)
class Topic:
    """A topic and its id, 16 bytes."""

    name: str
    id: bytes = UUID


@dataclass(frozen=True)
class Member:
    """A member of a group; epoch is a generation id or a member epoch."""

    group: str
    id: str = ""
    epoch: int = -1
    instance: str | None = None


@dataclass(frozen=True)
class Producer:
    """A producer id with its epoch, and the transactional id it belongs to."""

    transactional_id: str
    id: int = 7
    epoch: int = 0


def _numbered(kind: str, count: int, member: str = "", epoch: int = -1) -> tuple[Member, ...]:
    return tuple(Member(f"fuzz-{kind}-{number}", member, epoch) for number in range(count))


# Ids of members that clients choose themselves are Kafka's base 64 of a UUID, which ShareFetch
# reads one from.
CHOSEN = ("AAECAwQFBgcICQoLDA0ODw", "EBESExQVFhcYGRobHB0eHw", "ICEiIyQlJicoKSorLC0uLw")
MEMBERS: Mapping[str, tuple[Member, ...]] = MappingProxyType({
    "simple": _numbered("group", 16),
    "removed": _numbered("removed", 32),
    "classic": _numbered("classic", 3, "fuzz-member", 1),
    "joining": _numbered("joining", 6, "fuzz-member", 1),
    "leaving": _numbered("leaving", 64, "fuzz-member", 1),
    "consumer": _numbered("consumer", 3, CHOSEN[0], 1),
    "share": _numbered("share", 3, CHOSEN[1], 1),
    "streams": _numbered("streams", 3, CHOSEN[2], 1),
    "fetching": tuple(Member("fuzz-fetching", chosen) for chosen in CHOSEN),
    "transacted": _numbered("transacted", 8),
    "shared": _numbered("shared", 4),
    "stated": _numbered("stated", 8),
})  # fmt: skip


def _transactions(kind: str, count: int) -> tuple[Producer, ...]:
    return tuple(Producer(f"fuzz-{kind}-{number}") for number in range(count))


PRODUCERS: Mapping[str, tuple[Producer, ...]] = MappingProxyType({
    "ongoing": _transactions("ongoing", 4),
    "opened": _transactions("opened", 4),
    "ended": _transactions("ended", 48),
})  # fmt: skip


def _topics() -> Mapping[str, tuple[Topic, ...]]:
    return {kind: tuple(Topic(name) for name in names) for kind, names in NAMES.items()}


@dataclass(frozen=True)
class World:
    """Entities by kind. `sessions` are fetch sessions (id, next epoch), `metadata_version` the
    level of that feature, `log_dir` a log directory of the broker.
    """

    topics: Mapping[str, tuple[Topic, ...]] = field(default_factory=_topics)
    members: Mapping[str, tuple[Member, ...]] = field(default_factory=lambda: MEMBERS)
    producers: Mapping[str, tuple[Producer, ...]] = field(default_factory=lambda: PRODUCERS)
    sessions: tuple[tuple[int, int], ...] = ()
    metadata_version: int = 1
    log_dir: str = "/no/such/directory"
    broker: int = 0
    port: int = 9092
