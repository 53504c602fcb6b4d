"""A broker handles one request of a connection at a time and leaves the following ones unread.

A waiting Fetch makes this visible: its max_wait_ms is ten minutes, longer than any step is
observed, so a request behind it on its connection is handled only after an append on another
connection has completed the Fetch. The number of broker threads must not show: the last two claims
run against a broker with the fewest.

Sources: SocketServer.Processor (mutes a channel from the receipt of its request until its answer is
sent), RequestChannel, KafkaRequestHandlerPool at 1.0.2, 2.8.2 and 3.9; clauses WIRE-09 to WIRE-11,
WIRE-17.
"""

import struct

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, answered, connection, records
from touchstone.harness.model.scenario import Await, Quiet, Raw, Send
from touchstone.harness.model.steps import a_topic, fetch, list_offsets, metadata, produce
from touchstone.suites.kit.in_flight import NOTHING, sent, waiting
from touchstone.suites.kit.records import ONE, THREE, TWO, batch

STORED = "responses[0].partition_responses[0].base_offset"
END = "topics[0].partitions[0].offset"
HEAD = struct.pack(">hhih", 3, 1, 7, 10) + b"touchstone"
ASKED = struct.pack(">i", len(HEAD) + 4) + HEAD + struct.pack(">i", 0)
UNKNOWN_KEY = struct.pack(">ihhih", 10, 999, 0, 5, -1)
FEWEST = {"num.network.threads": 1, "num.io.threads": 1, "queued.max.requests": 1}


@claim("connections.one-request-is-in-work", evidence=("WIRE-10",))
def test_one_request_is_in_work(case):
    """A Produce behind a waiting Fetch on one connection is appended only after the Fetch is
    answered.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        sent(produce(topic, 0, batch(TWO)), "behind", to="b"),
        Quiet("b"),
        list_offsets(topic, name="meanwhile"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        Await("behind"),
        expect=all_of(
            answer("meanwhile", END).is_(0),
            answer("append", STORED).is_(0),
            records("waits", "[*].value").is_([ONE]),
            answer("behind", STORED).is_(1),
        ),
    )


@claim("connections.a-burst-is-answered-in-order", evidence=("WIRE-10", "WIRE-17"), count=(2, 40))
def test_a_burst_is_answered_in_order(case):
    """The broker answers every pipelined request of a connection in the order they were sent."""
    topic = case.topic()
    asks = [list_offsets(topic), metadata(topic)]
    names = [f"ask {index}" for index in range(case.count)]
    return case.scenario(
        a_topic(topic),
        [sent(asks[index % 2], name, to="b") for index, name in enumerate(names)],
        [Await(name) for name in names],
        expect=all_of(*(answered(name) for name in names)),
    )


@claim("connections.silent-requests-keep-their-order", evidence=("WIRE-10", "WIRE-17", "APPEND-21"))
def test_silent_requests_keep_their_order(case):
    """Produce requests with acks=0 are appended in the order sent, before the next request's
    records.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, batch(ONE), acks=0, name="first"),
        produce(topic, 0, batch(TWO), acks=0, name="second"),
        produce(topic, 0, batch(THREE), name="third"),
        fetch(topic, name="fetch"),
        expect=all_of(
            answer("third", STORED).is_(2),
            records("fetch", "[*].value").is_([ONE, TWO, THREE]),
        ),
    )


def in_its_turn(case, bad):
    """A frame that must close the connection, behind a fetch that waits."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        Raw(bad, name="bad", connection="b", framed=False, expect="silence"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        Await("bad"),
        expect=all_of(records("waits", "[*].value").is_([ONE]), connection("b").is_not("kept")),
    )


@claim("connections.a-bad-request-waits-for-its-turn", evidence=("WIRE-10", "WIRE-18"))
def test_a_bad_request_waits_for_its_turn(case):
    """A request with an unknown API key closes its connection only after earlier requests are
    answered.
    """
    return in_its_turn(case, UNKNOWN_KEY)


@claim(
    "connections.a-bad-size-waits-for-its-turn",
    evidence=("WIRE-10", "WIRE-18", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    releases="2.8+",  # before, whole frames were read ahead, and whether this one was is chance
    size=(-1, 2**31 - 1),
)
def test_a_bad_size_waits_for_its_turn(case):
    """An invalid frame size closes its connection only after the waiting request before it is
    answered.
    """
    return in_its_turn(case, struct.pack(">i", case.size))


@claim("connections.half-a-frame-waits-for-the-rest", evidence=("WIRE-10",), cut=(2, 9))
def test_half_a_frame_waits_for_the_rest(case):
    """The broker keeps half a frame behind a waiting request and answers it once
    the rest arrives.
    """
    topic = case.topic()
    rest = Raw(
        ASKED[case.cut :],
        name="rest",
        connection="b",
        framed=False,
        expect="answer",
        api="Metadata",
        version=1,
    )
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        Raw(ASKED[: case.cut], name="half", connection="b", framed=False, expect="silence"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        rest,
        expect=all_of(records("waits", "[*].value").is_([ONE]), answered("rest")),
    )


@claim(
    "connections.waiting-requests-hold-no-handler",
    evidence=("WIRE-11", "WIRE-09"),
    config=FEWEST,
)
def test_waiting_requests_hold_no_handler(case):
    """With a single request handler thread, waiting Fetches do not delay requests of other
    connections.
    """
    topic = case.topic()
    names = [f"waits {index}" for index in range(6)]
    return case.scenario(
        a_topic(topic),
        [waiting(topic, name, to=name) for name in names],
        metadata(name="meanwhile"),
        produce(topic, 0, batch(ONE), name="append"),
        [Await(name) for name in names],
        expect=all_of(
            answered("meanwhile"),
            *(records(name, "[*].value").is_([ONE]) for name in names),
        ),
    )


@claim("connections.a-full-queue-only-slows-down", evidence=("WIRE-11",), config=FEWEST)
def test_a_full_queue_only_slows_down(case):
    """With queued.max.requests=1 the broker still answers every request of twelve connections."""
    peers = [f"peer {index}" for index in range(12)]
    asks = [f"{peer} {word}" for word in ("first", "second") for peer in peers]
    return case.scenario(
        [Send("Metadata", 4, NOTHING, name=ask, connection=ask.rpartition(" ")[0]) for ask in asks],
        [Await(ask) for ask in asks],
        expect=all_of(*(answered(ask) for ask in asks)),
    )
