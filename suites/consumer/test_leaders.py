"""A consumer and leaders that move, die, or are several (CONS-21, CONS-30, CONS-37)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.steps import kill_broker
from touchstone.suites.kit.clients import C, assign, consumer, reads
from touchstone.suites.kit.moving import MOVES, moved
from touchstone.suites.kit.three_brokers import SHORT_SESSIONS, on, placed, until_led, write

READ = {"client": C, "field": "value"}
OLD, NEW = 1, 2
EACH = {0: [0], 1: [1], 2: [2]}


@claim("consumer.a-moved-leader-is-followed", evidence=("CONS-37",), role="client",
       switches=("leaders-hidden",), **MOVES)  # fmt: skip
def test_a_moved_leader_is_followed(case):
    """A consumer whose partition gets another leader fetches from that one, and gets each record
    once.
    """
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [OLD, NEW]}),
        write(topic, b"a", to=OLD, name="write a"),
        consumer(),
        assign(topic),
        reads(1, name="the first"),
        moved(case, topic, (NEW, OLD)),
        write(topic, b"b", to=NEW, name="write b"),
        reads(2, name="the second"),
        expect=all_of(
            client("brokers", api="Fetch").contains(NEW),
            client("consumed", **READ).is_(["a", "b"]),
        ),
    )


@claim("consumer.a-dead-leader-is-left", evidence=("CONS-37", "CONS-32"), role="client",
       switches=("leaders-hidden",), **on("2.8+", SHORT_SESSIONS))  # fmt: skip
def test_a_dead_leader_is_left(case):
    """A consumer whose leader dies reads on from the replica that is elected."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [OLD, NEW]}),
        write(topic, b"a", to=OLD, name="write a"),
        consumer(config={"request.timeout.ms": 2000}),
        assign(topic),
        reads(1, name="the first"),
        kill_broker(OLD),
        until_led(case, topic, NEW, [NEW]),
        write(topic, b"b", to=NEW, name="write b"),
        reads(2, name="the second"),
        expect=all_of(
            client("brokers", api="Fetch").contains(NEW),
            client("consumed", **READ).is_(["a", "b"]),
        ),
    )


@claim("consumer.each-leader-is-asked-for-its-partitions", evidence=("CONS-21", "CONS-30"),
       role="client", switches=("all-asked-of-one",), releases="2.8+", brokers=3)  # fmt: skip
def test_each_leader_is_asked_for_its_partitions(case):
    """Offsets and records of partitions with three leaders are asked of each one's own leader."""
    topic = case.topic()
    return case.scenario(
        placed(topic, EACH),
        *(write(topic, b"v", partition=at, to=at, name=f"write {at}") for at in EACH),
        consumer(),
        assign(topic, *EACH),
        reads(3),
        expect=all_of(
            *(client("brokers", api=api).contains(at)
              for api in ("ListOffsets", "Fetch") for at in EACH),
            *(client("consumed", client=C, field="partition").contains(at) for at in EACH),
        ),
    )  # fmt: skip
