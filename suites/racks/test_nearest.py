"""Consumers that send their rack, and the replica that the leader prefers for them (KIP-392).

Brokers 0, 1 and 2 are in racks a, b and c and select replicas by rack; the assignment is (1, 2, 0),
so the leader is in rack b. 1.0 and 2.2 do not know this.

Sources: ReplicaManager.findPreferredReadReplica, RackAwareReplicaSelector (2.8.2 to 4.3.1);
KIP-392; clauses FETCH-14, META-08.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import pause_broker, resume_broker, stop_broker
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    MARK,
    READ,
    SHORT_LAG,
    SHORT_LAG_UNHARMED,
    a_log,
    marked,
    read,
    until_led,
    write,
)
from touchstone.suites.kit.topics import among

PREFERRED = f"{READ}.preferred_read_replica"
NOBODY, FROM = -1, 11
BY_RACK = {"api": "Fetch", "versions": range_("Fetch", FROM), "where": among(11, 12, 13, 17)}
ONCE = {"api": "Fetch", "versions": range_("Fetch", FROM, FROM)}


def sent_to(topic, broker, rack, version, name="sent"):
    """Ask the leader until it sends this rack to that broker: followers must have told it first
    what they have.
    """
    asked = read(topic, 1, name=name, rack=rack, version=version)
    return Until(asked, PREFERRED, "==", broker)


@claim(
    "racks.consumers-are-sent-to-their-rack", evidence=("KIP-392",), **BY_RACK, **SHORT_LAG_UNHARMED
)
def test_consumers_are_sent_to_their_rack(case):
    """The leader names the follower in the consumer's rack as preferred_read_replica and returns no
    records; that follower serves them.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE, TWO),
        sent_to(name, 2, "c", case.version),
        sent_to(name, 0, "a", case.version, "sent elsewhere"),
        Until(read(name, 1, at=2, name="served", rack="c", version=case.version), MARK, "==", 2),
        expect=all_of(
            records("sent").has_length(0),
            answer("sent", MARK).is_(2),
            records("served", "[0].value").is_(TWO),
            answer("served", PREFERRED).is_(NOBODY),
        ),
    )


@claim("racks.the-leader-serves-its-own", evidence=("KIP-392",), **ONCE, rack=("b", "z", ""),
       **SHORT_LAG_UNHARMED)  # fmt: skip
def test_the_leader_serves_its_own(case):
    """The leader serves a consumer in its own rack, in a rack without replica, or without rack."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE, TWO),
        sent_to(name, 2, "c", case.version, "ready"),
        read(name, 1, name="read", rack=case.rack, version=case.version),
        expect=all_of(answer("read", PREFERRED).is_(NOBODY), records("read", "[0].value").is_(TWO)),
    )


@claim("racks.a-follower-sends-nobody-away", evidence=("KIP-392",), **ONCE, **SHORT_LAG_UNHARMED)
def test_a_follower_sends_nobody_away(case):
    """A follower serves any consumer that fetches from it, whatever its rack."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE, TWO),
        Until(read(name, 1, at=2, name="read", rack="a", version=case.version), MARK, "==", 2),
        expect=all_of(answer("read", PREFERRED).is_(NOBODY), records("read", "[0].value").is_(TWO)),
    )


@claim("racks.nobody-is-sent-to-the-absent", evidence=("KIP-392",), **ONCE, **SHORT_LAG)
def test_nobody_is_sent_to_the_absent(case):
    """The leader serves a consumer itself while the replica in the consumer's rack is down."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE, TWO),
        sent_to(name, 2, "c", case.version, "ready"),
        stop_broker(2),
        until_led(case, name, 1, [1, 0]),
        read(name, 1, name="read", rack="c", version=case.version),
        expect=all_of(answer("read", PREFERRED).is_(NOBODY), records("read", "[0].value").is_(TWO)),
    )


@claim("racks.nobody-is-sent-behind", evidence=("KIP-392",), **ONCE, **SHORT_LAG)
def test_nobody_is_sent_behind(case):
    """The leader serves a consumer itself while the nearest follower lacks the requested offset."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, acks=1),
        until_led(case, name, 1, [1, 0]),
        write(name, TWO, acks=1, name="next"),
        marked(name, 3),
        read(name, 2, name="behind", rack="c", version=case.version),
        resume_broker(2),
        expect=all_of(
            answer("behind", PREFERRED).is_(NOBODY), records("behind", "[0].value").is_(TWO)
        ),
    )
