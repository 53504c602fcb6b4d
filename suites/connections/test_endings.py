"""How a connection ends: the client closes it in the middle of a request, or it stays idle too
long.

A broker carries out every request that it received whole before the end, drops an answer that has
no reader any more, and stays unharmed. It notices a half-closed connection only when the
connection's turn comes, so a request that waits is still answered.

Sources: Selector.close and IdleExpiryManager, SocketServer.Processor at 1.0.2, 2.8.2 and 3.9;
clauses WIRE-10, WIRE-17, WIRE-22.
"""

import struct

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import (
    all_of,
    answer,
    answered,
    by_release,
    connection,
    records,
)
from touchstone.harness.model.scenario import Await, Close, HalfClose, Open, Quiet, Raw, Until
from touchstone.harness.model.steps import a_topic, fetch, list_offsets, metadata, produce
from touchstone.suites.kit.in_flight import sent, the_end, waiting
from touchstone.suites.kit.records import ONE, TWO, batch

IDLE = {"connections.max.idle.ms": 4000}  # longer than a busy broker makes a topic
END = "topics[0].partitions[0].offset"


@claim(
    "connections.what-was-sent-before-the-end-is-done",
    evidence=("WIRE-17", "WIRE-10"),
    acks=(0, 1, -1),
)
def test_what_was_sent_before_the_end_is_done(case):
    """The broker writes a Produce whose connection closes right after it, and drops the answer."""
    topic = case.topic()
    body = produce(topic, 0, batch(ONE), acks=case.acks)
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, batch(ONE), name="silent", acks=0, connection="b")
        if case.acks == 0
        else sent(body, "unheard", to="b"),
        Close("b"),
        Until(list_offsets(topic, name="end"), END, "==", 1),
        metadata(name="after"),
        expect=all_of(answer("end", END).is_(1), answered("after")),
    )


@claim("connections.an-answer-for-nobody-is-dropped", evidence=("WIRE-17",))
def test_an_answer_for_nobody_is_dropped(case):
    """When a client disconnects while its Fetch waits, the broker drops that answer and serves
    others.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        waiting(topic, "other", to="c"),
        Quiet("b"),
        Close("b"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("other"),
        fetch(topic, name="after"),
        expect=all_of(
            records("other", "[*].value").is_([ONE]), records("after", "[*].value").is_([ONE])
        ),
    )


@claim("connections.who-only-listens-is-answered", evidence=("WIRE-10", "WIRE-17"))
def test_who_only_listens_is_answered(case):
    """A client that half-closes while its Fetch waits receives the answer before
    the broker closes.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        Quiet("b"),
        HalfClose("b"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        the_end("b"),
        expect=all_of(records("waits", "[*].value").is_([ONE]), connection("b").is_("closed")),
    )


@claim(
    "connections.a-pipeline-is-answered-after-the-end",
    evidence=("WIRE-10", "WIRE-17", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    releases="2.8+",  # before, the end may be read ahead of the requests
)
def test_a_pipeline_is_answered_after_the_end(case):
    """Requests pipelined behind a waiting Fetch are all answered in order after the client
    half-closes.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        sent(produce(topic, 0, batch(TWO)), "second", to="b"),
        sent(list_offsets(topic), "third", to="b"),
        Quiet("b"),
        HalfClose("b"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        Await("second"),
        Await("third"),
        the_end("b"),
        expect=all_of(
            records("waits", "[*].value").is_([ONE]),
            answer("third", END).is_(2),
            connection("b").is_("closed"),
        ),
    )


@claim(
    "connections.idle-ones-are-closed",
    evidence=("WIRE-22",),
    config=IDLE,
    said=("a request", "half a frame"),
)
def test_idle_ones_are_closed(case):
    """The broker closes a connection idle for connections.max.idle.ms, even one with half a frame
    read.
    """
    said = {
        "a request": [metadata(name="ask", connection="b")],
        "half a frame": [
            Raw(struct.pack(">ihh", 99, 3, 1), name="half", connection="b", framed=False,
                expect="silence")
        ],
    }  # fmt: skip
    return case.scenario(
        said[case.said],
        the_end("b"),
        metadata(name="after", connection="c"),
        expect=all_of(connection("b").is_("closed"), answered("after")),
    )


@claim(
    "connections.unused-ones-are-idle",
    evidence=("WIRE-22", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    config=IDLE,
)
def test_unused_ones_are_idle(case):
    """The broker closes a connection that never sent a byte as idle; 1.0 keeps it open."""
    return case.scenario(
        Open("b"),
        metadata(name="ask", connection="c"),
        the_end("c"),
        metadata(name="late", connection="b") if case.release == "1.0" else the_end("b", "late"),
        expect=by_release({"1.0": answered("late"), "2.2+": connection("b").is_("closed")}),
    )


@claim(
    "connections.a-waiting-request-does-not-keep-its-connection",
    evidence=("WIRE-22",),
    config=IDLE,
)
def test_a_waiting_request_does_not_keep_its_connection(case):
    """The broker closes a connection whose only request waits longer than
    connections.max.idle.ms.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        waiting(topic),
        Await("waits"),
        produce(topic, 0, batch(ONE), name="append", connection="c"),
        expect=all_of(connection("b").is_("closed"), answered("append")),
    )
