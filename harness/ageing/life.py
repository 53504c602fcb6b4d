"""What a cluster lives through before anybody judges it, as a plan that a seed decides.

A cluster out in the world was not formatted a minute ago: its brokers have been restarted, killed
and upgraded, leaders and coordinators have moved, other people's topics lie on it, and its owner
has settings of his own. A plan holds each of these at least once where the release knows it, in an
order that the seed draws, so that thirty seeds are thirty clusters and each can be made again.

Pure: no target, no time, no socket.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from touchstone.harness.model import profiles, security_settings
from touchstone.harness.model.expect import fits

# Releases in the order in which one is upgraded to the next: ZooKeeper's among themselves, as a
# migration to KRaft needs releases that are not in ci/matrix.toml.
UPGRADES = (("1.0", "2.2", "2.8"), ("3.9", "4.3"))
IDS = (1, 2, 3, 5, 7, 11, 42, 101, 512, 999)  # above 1000 ZooKeeper's brokers draw their own
SIZES = (1, 1, 3)  # brokers; most cases are about one
ACTS = {  # the release since which each is known; the sentence that is printed
    "tenants": ("1.0", "other people's topics, records, groups and transactions"),
    "expire": ("1.0", "records, offsets and groups of other people are deleted"),
    "restart": ("1.0", "a broker is stopped in order and started again"),
    "kill": ("1.0", "a broker is killed and started again"),
    "settings": ("2.8", "settings that are set while it runs"),
    "quotas": ("2.8", "quotas of other people's users"),
    "leaders": ("2.8", "leaders and replicas of other people's topics move"),
    "ids": ("1.0", "producer ids are handed out"),
}
NEEDS_SEVERAL = frozenset({"leaders"})
MOST_AGAIN = 5  # acts beside those that every life has
# Other defaults than Kafka's, each with what an owner might choose.
DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "group.initial.rebalance.delay.ms": ("3000", "1000"),
    "log.retention.hours": ("168", "72", "-1"),
    "log.segment.bytes": ("1073741824", "268435456"),
    "num.io.threads": ("8", "3"),
    "num.network.threads": ("3", "2"),
    "num.partitions": ("1", "3"),
    "offsets.topic.num.partitions": ("50", "7"),
    "transaction.state.log.num.partitions": ("50", "5"),
}
PLAIN = "plain"
INTERNAL = "internal"  # brokers talk on a listener of their own
SASL = "sasl"  # there is a listener that wants a login, as most of those of companies do
LISTENER_SETS = (PLAIN, INTERNAL, SASL, SASL, SASL, SASL)
MECHANISMS: Mapping[str, str] = {  # the releases in which `age` can make a user of it
    security_settings.PLAIN: "1.0+",
    security_settings.SCRAM[0]: "2.8+",
    security_settings.SCRAM[1]: "2.8+",
    security_settings.OAUTHBEARER: security_settings.TOKENS,
}


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that happens: a word of ACTS or "upgrade", the broker or number that it is about,
    and for an upgrade the release.
    """

    kind: str
    number: int = 0
    release: str = ""

    def __str__(self) -> str:
        if self.kind == "upgrade":
            return f"upgrade: every broker in turn to {self.release}"
        about = f" {self.number}" if self.kind in ("restart", "kill") else ""
        return f"{self.kind}{about}: {ACTS[self.kind][1]}"


@dataclass(frozen=True)
class Life:
    """A plan: the cluster that is started first, and what happens to it."""

    release: str
    seed: int
    first: str  # the release that it is started with
    ids: tuple[int, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    listeners: str = PLAIN
    mechanism: str = ""  # of a listener with a login
    acts: tuple[Act, ...] = ()

    def lines(self) -> Iterator[str]:
        """The plan in words."""
        brokers = ", ".join(map(str, self.ids))
        yield f"Kafka {self.first}, brokers {brokers}, listeners: {self.listeners} {self.mechanism}"
        yield from (f"  {name}={value}" for name, value in self.settings.items())
        yield from (f"{at}. {act}" for at, act in enumerate(self.acts, 1))


def older(release: str) -> tuple[str, ...]:
    """The releases that can be upgraded to this one, oldest first."""
    line = next((one for one in UPGRADES if release in one), (release,))
    return line[: line.index(release)]


def planned(
    release: str, seed: int, brokers: int | None = None, login: str | None = None
) -> Life:  # fmt: skip
    """Return the life that this seed decides. `brokers` is how many, and `login` the mechanism of a
    listener that wants one, where the seed is not to say; such a life begins in a release in which
    users of that mechanism can be made. Raise ValueError if there is none.
    """
    draw = random.Random(f"{release}/{seed}")
    ids = tuple(sorted(draw.sample(IDS, brokers or draw.choice(SIZES))))
    path = (*older(release), release)
    first = draw.randrange(len(path))
    settings = {name: draw.choice(values) for name, values in DEFAULTS.items()}
    listeners = draw.choice(LISTENER_SETS)
    mechanisms = [name for name, where in MECHANISMS.items() if fits(path[first], where)]
    mechanism = draw.choice(mechanisms) if listeners == SASL else ""
    if login is not None:
        listeners, mechanism, first = SASL, login, _first_with(login, path, first)
    acts = list(_acts(draw, release, ids))
    draw.shuffle(acts)
    places = sorted(draw.randint(1, len(acts)) for _ in path[first + 1 :])
    for place, after in reversed(list(zip(places, path[first + 1 :], strict=True))):
        acts.insert(place, Act("upgrade", release=after))
    acts = [Act("tenants"), *_once_known(acts, path[first])]
    return Life(release, seed, path[first], ids, settings, listeners, mechanism, tuple(acts))


def _first_with(mechanism: str, path: tuple[str, ...], drawn: int) -> int:
    """Return the place of the first release, from the drawn one on, in which it can be had."""
    where = MECHANISMS[mechanism]
    found = next((at for at in range(drawn, len(path)) if fits(path[at], where)), None)
    if found is None:
        raise ValueError(f"{mechanism} is for lives of {where}, not of {path[-1]}")
    return found


def _once_known(acts: list[Act], release: str) -> Iterator[Act]:
    """The acts in their order, but none before the upgrade to a release that knows it."""
    waiting: list[Act] = []
    for act in acts:
        release = act.release or release
        waiting.append(act)
        ready = [one for one in waiting if one.release or fits(release, f"{ACTS[one.kind][0]}+")]
        waiting = [one for one in waiting if one not in ready]
        yield from sorted(ready, key=lambda one: not one.release)


def _acts(draw: random.Random, release: str, ids: tuple[int, ...]) -> Iterator[Act]:
    """Each kind once, and some of them again."""
    known = [
        kind
        for kind, (since, _) in ACTS.items()
        if fits(release, f"{since}+") and (len(ids) > 1 or kind not in NEEDS_SEVERAL)
    ]
    for kind in (*known, *draw.choices(known, k=draw.randint(2, MOST_AGAIN))):
        yield Act(kind, draw.choice(ids))


def login_settings(life: Life, release: str) -> dict[str, str]:
    """What brokers of a release are told of a listener with a login; none in a life without one."""
    (profile,) = profiles.named(["sasl"])
    known = profile.of(release) if life.listeners == SASL else {}
    return {name: value for name, value in known.items() if name in security_settings.SASL}
