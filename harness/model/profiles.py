"""A handful of named clusters on which all claims can be judged: which settings each has.

A claim asks for the settings that it is about. On somebody else's cluster nobody can set them for
it, so they are gathered here under names: whoever starts a broker with the settings of a profile
(`touchstone profile NAME` prints them) and says so (`--profile NAME`) has the claims judged that
want them. Settings that only set a claim's pace (harness/model/pace.py) are in every profile but
`default`, so that nothing is waited for longer than it must.

Some profiles are `apart`: their settings change what other claims meet (one member in a group of
consumers that share, ten connections of one address), so only claims that want them are judged
there. Pure: values and look-ups, no target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from touchstone.harness.model import advertised, pace, security_settings
from touchstone.harness.model.expect import fits
from touchstone.harness.model.target import Setting, Shape
from touchstone.harness.names import did_you_mean

# What one broker can keep.
ONE_BROKER = {
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.replication.factor": "1",
}
# The pace of every claim about one broker, but for what others would see: how many partitions
# internal topics have, and after how long a deleted segment goes, are told to whoever asks; empty
# groups without offsets go whenever offsets are looked at (`expiry` has that). Least
# timeouts are not as small as claims want them where each has a broker to itself: here members
# share one with sixteen cases, and must not be thought dead because it is busy.
PACE = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "2000",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "2000",
    "group.share.assignment.interval.ms": "0",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.min.record.lock.duration.ms": "2000",
    "group.share.min.session.timeout.ms": "2000",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.min.heartbeat.interval.ms": "500",
    "group.streams.min.session.timeout.ms": "2000",
    "log.cleaner.backoff.ms": "100",
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "200",
    "producer.id.expiration.check.interval.ms": "200",
    "share.coordinator.state.topic.prune.interval.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
}
QUICK = ONE_BROKER | PACE
# Claims about several brokers; their internal topics have as many replicas as Kafka's defaults say.
SEVERAL = {
    "auto.leader.rebalance.enable": "false",
    "controlled.shutdown.retry.backoff.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
}
SESSIONS = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
}
ZOOKEEPERS = "1.0-2.8"  # releases whose brokers have a ZooKeeper
# Releases that know a setting, of those that not all know: the names that KafkaConfig has there.
KNOWN = {
    "broker.heartbeat.interval.ms": "2.8+",
    "broker.session.timeout.ms": "2.8+",
    "controlled.shutdown.retry.backoff.ms": "1.0-3.9",
    "delegation.token.master.key": "2.2-3.9",
    "delegation.token.secret.key": "2.8+",
    "group.consumer.assignment.interval.ms": "4.3+",
    "group.consumer.max.size": "3.9+",
    "group.consumer.migration.policy": "3.9+",
    "group.consumer.min.heartbeat.interval.ms": "3.9+",
    "group.consumer.min.session.timeout.ms": "3.9+",
    "group.coordinator.rebalance.protocols": "3.9+",
    "group.max.size": "2.2+",
    "group.share.assignment.interval.ms": "4.3+",
    "group.share.max.share.sessions": "4.3+",
    "group.share.max.size": "3.9+",
    "group.share.min.heartbeat.interval.ms": "3.9+",
    "group.share.min.record.lock.duration.ms": "3.9+",
    "group.share.min.session.timeout.ms": "3.9+",
    "group.streams.assignment.interval.ms": "4.3+",
    "group.streams.initial.rebalance.delay.ms": "4.3+",
    "group.streams.min.heartbeat.interval.ms": "4.3+",
    "group.streams.min.session.timeout.ms": "4.3+",
    "inter.broker.protocol.version": "1.0-3.9",
    "log.initial.task.delay.ms": "3.9+",
    "log.message.format.version": "1.0-3.9",
    "max.incremental.fetch.session.cache.slots": "2.2+",
    "producer.id.expiration.check.interval.ms": "3.9+",
    "producer.id.expiration.ms": "3.9+",
    "quota.consumer.default": "1.0-2.8",
    "quota.producer.default": "1.0-2.8",
    "replica.selector.class": "2.8+",
    "share.coordinator.cold.partition.snapshot.interval.ms": "4.3+",
    "share.coordinator.snapshot.update.records.per.snapshot": "4.3+",
    "share.coordinator.state.topic.min.isr": "4.3+",
    "share.coordinator.state.topic.num.partitions": "4.3+",
    "share.coordinator.state.topic.prune.interval.ms": "4.3+",
    "share.coordinator.state.topic.replication.factor": "4.3+",
    "zookeeper.session.timeout.ms": "1.0-3.9",
    **security_settings.KNOWN,
}
# Why no profile has a setting that claims are about.
UNFIT = {
    "advertised.listeners": "they name addresses that only a broker of the harness has",
    "broker.id": "a broker gets an id only when it first starts",
    "listener.name.plaintext.max.connections": "other claims of a profile need more connections",
    "max.connections": "other claims of a profile need more connections",
    security_settings.JWKS_URL: "it names a file that only a broker of the harness has",
    "offsets.topic.segment.bytes": "the topic is made once, by whoever asks for a group first",
}

Choice = tuple[str, str]  # releases, and the value that these have
Value = str | tuple[Choice, ...]


@dataclass(frozen=True)
class Profile:
    """One cluster by name: `settings` have one value, or one for some releases only."""

    name: str
    sentence: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    brokers: int = 1
    racks: tuple[str, ...] = ()
    apart: bool = False

    def of(self, release: str) -> dict[str, str]:
        """Its settings on this release, also those that the release ignores: claims want them."""
        found = {name: _on(release, value) for name, value in self.settings.items()}
        return {name: value for name, value in sorted(found.items()) if value is not None}

    def heeded(self, release: str) -> dict[str, str]:
        """Its settings on this release, without those that the release does not know."""
        unknown = self.unknown(release)
        return {name: value for name, value in self.of(release).items() if name not in unknown}

    def unknown(self, release: str) -> list[str]:
        """Those of its settings that this release, by default the newest, does not know."""
        release = release or _newest()
        return sorted(n for n in self.settings if n in KNOWN and not fits(release, KNOWN[n]))

    def subjects(self, release: str) -> dict[str, str]:
        """Those that claims are about: all but pace, in which no claim is interested."""
        plain = {**ONE_BROKER, **PACE, **SEVERAL, **SESSIONS}
        return {name: v for name, v in self.of(release).items() if plain.get(name) != v}

    def has(self, shape: Shape) -> bool:
        """Whether it has the brokers of this shape, and their racks."""
        return (self.brokers, self.racks) == (shape.brokers, shape.racks)


def _on(release: str, value: Value) -> str | None:
    """The value on this release, by default the newest; None where it has none."""
    if isinstance(value, str):
        return value
    release = release or _newest()
    return next((one for releases, one in value if fits(release, releases)), None)


def _newest() -> str:
    return list(advertised.tables())[-1]


PROFILES: Mapping[str, Profile] = {
    made.name: made
    for made in (
        Profile("default", "One broker, as its release comes."),
        Profile("quick", "One broker that lets nobody wait.", QUICK),
        Profile(
            "limits",
            "One broker with small groups, few fetch sessions, fine indexes and one thread.",
            QUICK
            | {
                "group.consumer.max.size": "6",
                "group.initial.rebalance.delay.ms": "2000",
                "group.max.size": "8",
                "group.share.max.share.sessions": "1",
                "group.share.max.size": (("4.3+", "1"),),
                "log.index.interval.bytes": "5000",
                "max.incremental.fetch.session.cache.slots": (("2.2-2.8", "2"), ("3.9+", "7")),
                "num.io.threads": "1",
                "num.network.threads": "1",
                "queued.max.requests": "1",
                # claims about quotas read records, whose format is an old one where `restricted`
                "quota.consumer.default": (("1.0", "1900"),),
                "quota.producer.default": (("1.0", "1900"),),
                "share.coordinator.snapshot.update.records.per.snapshot": "2",
            },
            apart=True,
        ),
        Profile(
            "expiry",
            "One broker that soon forgets offsets, transactional ids and producers.",
            QUICK
            | {
                # records are in the old format where these releases are `restricted`
                "max.incremental.fetch.session.cache.slots": (("2.2-2.8", "0"),),
                "offsets.retention.check.interval.ms": "200",
                "offsets.retention.minutes": "1",
                "producer.id.expiration.ms": "1000",
                "share.coordinator.cold.partition.snapshot.interval.ms": "1000",
                "transactional.id.expiration.ms": "1000",
            },
            apart=True,
        ),
        Profile(
            "restricted",
            "One broker that takes few connections and soon closes them, and has off what can be.",
            QUICK
            | {
                "auto.create.topics.enable": "false",
                "connections.max.idle.ms": "4000",
                "group.consumer.migration.policy": "disabled",
                "group.coordinator.rebalance.protocols": "classic,consumer",
                "inter.broker.protocol.version": (("1.0-2.8", "0.10.2"),),
                "log.message.format.version": (("1.0-2.8", "0.10.2"),),
                "max.connections.per.ip": "10",
                "max.connections.per.ip.overrides": "127.0.0.1:10",
                "max.incremental.fetch.session.cache.slots": (("3.9+", "0"),),
                "num.network.threads": "1",
                "quota.consumer.default": (("2.2-2.8", "1900"),),
                "quota.producer.default": (("2.2-2.8", "1900"),),
                "share.coordinator.snapshot.update.records.per.snapshot": "0",
            },
            apart=True,
        ),
        Profile(
            "three-brokers",
            "Three brokers without racks.",
            SEVERAL
            | SESSIONS
            | {
                "replica.lag.time.max.ms": "30000",
                "zookeeper.session.timeout.ms": ((ZOOKEEPERS, "3000"),),
            },
            brokers=3,
        ),
        Profile(
            "racks",
            "Three brokers in three racks, from whose replicas consumers fetch that are near.",
            SEVERAL
            | {
                "replica.lag.time.max.ms": "2000",
                "replica.selector.class": (
                    "org.apache.kafka.common.replica.RackAwareReplicaSelector"
                ),
                "zookeeper.session.timeout.ms": ((ZOOKEEPERS, "30000"),),
            },
            brokers=3,
            racks=("a", "b", "c"),
        ),
        Profile(
            "shared-racks",
            "Three brokers, two of them in one rack.",
            SEVERAL,
            brokers=3,
            racks=("a", "b", "b"),
        ),
        Profile(
            "sasl",
            "One broker with a SASL listener beside the plain one.",
            QUICK | security_settings.SASL,
            apart=True,
        ),
        Profile(
            "authorizer",
            "The same with an authorizer; clients of the plain listener are super users.",
            QUICK | security_settings.AUTHORIZED,
            apart=True,
        ),
        Profile(
            "open-authorizer",
            "The same, and everybody may do what no ACL is about.",
            QUICK | security_settings.AUTHORIZED | {security_settings.OPEN: "true"},
            apart=True,
        ),
    )
}

# Settings under which a case must be alone on its cluster: what they limit is everybody's.
_EVERYBODYS = re.compile(r"connections|threads|queued|slots|share\.sessions|snapshot|quota")
_FEW = "max.connections"


class NoProfile(ValueError):
    """There is no profile of this name; the message names those that there are."""


def named(names: Iterable[str]) -> tuple[Profile, ...]:
    """The profiles of these names. Raises NoProfile."""
    found = []
    for name in names:
        if name not in PROFILES:
            hint = did_you_mean(name, PROFILES)
            raise NoProfile(f"no profile {name!r}{hint}; there are {', '.join(PROFILES)}")
        found.append(PROFILES[name])
    return tuple(found)


def needs(shape: Shape, subject: Iterable[str]) -> dict[str, str]:
    """What a claim cannot do without: settings of its shape that are no pace, and its subject."""
    subject = frozenset(subject)
    return {
        name: value
        for name, value in shape.config
        if name in subject or not (name in pace.PACE or name in pace.SHARED)
    }


@dataclass(frozen=True)
class StatedProfiles:
    """The profiles that somebody's cluster is said to have, on the release it is judged as (empty:
    the newest).
    """

    profiles: tuple[Profile, ...] = ()
    release: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """Theirs together; of two values of one setting the later profile's counts."""
        return {n: value for one in self.profiles for n, value in one.of(self.release).items()}

    def over(self, in_force: Mapping[str, Setting]) -> dict[str, Setting]:
        """These settings and, where nothing is said of one, those that the cluster tells."""
        return {**in_force, **{name: Setting(value) for name, value in self.settings.items()}}

    def disputed(self, in_force: Mapping[str, Setting]) -> list[str]:
        """What the cluster tells otherwise, a line for each profile: somebody may have forgotten
        to start it anew. What is said counts all the same.
        """
        lines = []
        for profile in self.profiles:
            said = {n: v for n, v in profile.of(self.release).items() if self.settings[n] == v}
            other = [
                f"{name}={in_force[name].value} where the profile says {value}"
                for name, value in said.items()
                if name in in_force and in_force[name].value != value
            ]
            if other:
                lines.append(f"profile {profile.name}: the target tells {', '.join(other)}")
        return lines

    def alone(self, shape: Shape, subject: Iterable[str]) -> bool:
        """Whether a case of this shape has to have the cluster to itself; every case has to where
        only a few connections are taken.
        """
        return self.few or any(_EVERYBODYS.search(name) for name in needs(shape, subject))

    @property
    def few(self) -> bool:
        """Whether the cluster takes only a few connections."""
        return any(name.startswith(_FEW) for name in self.settings)

    def against(self, shape: Shape, subject: Iterable[str]) -> str | None:
        """Why a claim of this shape is not judged here: it wants nothing of what sets the cluster
        apart, and would meet it all the same. None where it is judged.
        """
        wanted = needs(shape, subject)
        apart = [one for one in self.profiles if one.apart]
        offered = [one.subjects(self.release) for one in apart]
        if not apart or any(here.get(n) == v for here in offered for n, v in wanted.items()):
            return None
        return f"profile {apart[0].name} is judged by the claims that want its settings"


NO_PROFILES = StatedProfiles()


def wanting(missing: Mapping[str, str], shape: Shape, subject: Iterable[str], release: str) -> str:
    """Why a claim of this shape is not run that lacks these settings: the profile that has them."""
    words = ", ".join(f"{name}={value}" for name, value in missing.items())
    wanted = needs(shape, subject)
    for profile in PROFILES.values():
        here = profile.of(release)
        fitting = all(here.get(name, value) == value for name, value in wanted.items())
        if profile.has(shape) and fitting and missing.items() <= here.items():
            return f"wants profile {profile.name} ({words})"
    why = "; ".join(dict.fromkeys(UNFIT[name] for name in missing if name in UNFIT))
    return f"wants settings that no profile has: {words}{f' ({why})' if why else ''}"


def too_slow(slow: Mapping[str, str]) -> str:
    """Why a claim was not decided that waited in vain under these values of its pace."""
    words = ", ".join(f"{name}={value} is long" for name, value in slow.items())
    return f"wants profile quick ({words})"


def for_brokers(shape: Shape, reason: str) -> str:
    """Why a cluster with other brokers or racks is not what a claim of this shape wants."""
    found = next((one for one in PROFILES.values() if one.has(shape)), None)
    return reason if found is None else f"wants profile {found.name} ({reason})"
