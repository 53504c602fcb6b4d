"""What a campaign asks of a target, however it was started: its settings, the pairs that it
serves, what real Kafka of its release did with the corpus.
"""

from __future__ import annotations

from touchstone.fuzz.cases import outcomes, reviewed_differences
from touchstone.fuzz.generator import Pair, harmless, pairs_of
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Target, Versions

SMALL_CLUSTER = {
    "auto.create.topics.enable": "false",
    "group.consumer.assignment.interval.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "max.incremental.fetch.session.cache.slots": "100000",
    "log.cleaner.backoff.ms": "500",
    "log.retention.bytes": "1048576",
    "log.retention.ms": "-1",  # records of cases bear a time of years ago
    "log.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""Of a target that we start: neither a mutated name nor a long run makes it grow."""


SASL_HANDSHAKE = 17


def served_pairs(
    release: str | None, listed: Versions, *, authenticated: bool = False
) -> list[Pair]:
    """Return the (API key, version) pairs that the target serves and that do it no harm.

    On a connection that is `authenticated` by SASL, whose session may have an end (a bearer token
    has one), a SaslHandshake begins a second login (KIP-368), and all that the connection carries
    is refused until that is over: such are not asked there.
    """
    nearest = release or advertised.nearest(listed)
    asked = [key for key in listed if not (authenticated and key == SASL_HANDSHAKE)]
    return harmless(pairs_of({key: advertised.served(nearest, key, listed) for key in asked}))


def recorded_for(target: Target) -> dict[str, str] | None:
    """What real Kafka of the target's release did, without what is reviewed for our personas."""
    release = target.release or advertised.release_of(target.advertised())
    try:
        recorded = outcomes(release) if release else None
    except FileNotFoundError:
        return None
    if recorded is None or target.kind != "reference":
        return recorded
    known_different = {
        n for row in reviewed_differences() if release in row.releases for n in row.cases
    }
    return {name: shown for name, shown in recorded.items() if name not in known_different}
