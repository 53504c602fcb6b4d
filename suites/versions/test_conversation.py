"""How a connection is used: order, correlation ids, client ids, tagged fields, split frames.

Sources: SocketServer.Processor at 1.0.2 (a channel is muted while its request is in work),
KIP-482 (tagged fields), RequestHeader; clauses WIRE-10, WIRE-17.
"""

import struct

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, answered, connection, no_answer
from touchstone.harness.model.scenario import Ask, Await, Frame, Raw, Send
from touchstone.harness.model.steps import a_topic, list_offsets, metadata, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.fetching import part, question
from touchstone.suites.kit.records import ONE, batch

API_VERSIONS, METADATA = 18, 3
NOTHING = {"topics": [], "allow_auto_topic_creation": False}


@claim(
    "versions.pipelined-requests-are-answered-in-order",
    evidence=("WIRE-10", "WIRE-17"),
)
def test_pipelined_requests_are_answered_in_order(case):
    """Requests that follow a waiting Fetch on its connection are answered after it and in order."""
    topic = case.topic()
    waiting = question(4, [(topic, [part()])], max_wait_ms=150)
    ends = list_offsets(topic, name="ends")
    return case.scenario(
        a_topic(topic),
        Send("Fetch", 4, waiting, name="waits", connection="b"),
        Send("Metadata", 4, NOTHING, name="second", connection="b"),
        Send("ListOffsets", ends.version, ends.body, name="third", connection="b"),
        Await("waits"),
        Await("second"),
        Await("third"),
        expect=all_of(
            answered("waits"),
            answered("second"),
            answer("third", "topics[0].partitions[0].error_code").is_(ErrorCode.NONE),
        ),
    )


@claim(
    "versions.one-connection-does-not-wait-for-another",
    evidence=("WIRE-10",),
)
def test_one_connection_does_not_wait_for_another(case):
    """A request is answered while a Fetch of another connection waits."""
    topic = case.topic()
    waiting = question(4, [(topic, [part()])], max_wait_ms=600_000)
    return case.scenario(
        a_topic(topic),
        Send("Fetch", 4, waiting, name="waits", connection="b"),
        metadata(name="meanwhile"),
        produce(topic, 0, batch(ONE), name="append"),
        Await("waits"),
        expect=all_of(answered("meanwhile"), answered("waits")),
    )


@claim(
    "versions.unanswered-requests-do-not-hold-up-the-next",
    evidence=("WIRE-17", "WIRE-10"),
)
def test_unanswered_requests_do_not_hold_up_the_next(case):
    """Produce with acks=0 gets no answer, and the next request on its connection is answered."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, batch(ONE), acks=0, name="silent", connection="b"),
        list_offsets(topic, name="next", connection="b"),
        expect=all_of(no_answer("silent"), answer("next", "topics[0].partitions[0].offset").is_(1)),
    )


@claim(
    "versions.correlation-ids-come-back",
    evidence=("WIRE-10",),
    correlation=(0, -1, 2**31 - 1, -(2**31)),
    asked=("ApiVersions", "Metadata"),
)
def test_correlation_ids_come_back(case):
    """An answer carries the correlation id of its request, whatever its value."""
    frame = Frame(case.asked, 1, NOTHING, correlation_id=case.correlation)
    if case.asked == "ApiVersions":
        frame = Frame("ApiVersions", 0, {}, correlation_id=case.correlation)
    return case.scenario(
        Raw(frame, name="ask", expect="answer"),
        expect=all_of(answered("ask"), connection("a").is_("kept")),
    )


@claim(
    "versions.client-ids-may-be-anything",
    evidence=("WIRE-10",),
    client_id=("null", "empty", "long", "accents", "spaces"),
)
def test_client_ids_may_be_anything(case):
    """A request is answered whether its client id is null, empty, long or any text."""
    ids = {
        "null": None,
        "empty": "",
        "long": "x" * 5000,
        "accents": "\u00e9\u6d88\U0001f600",
        "spaces": " a\tb\n/..*?:",
    }
    return case.scenario(
        Ask("Metadata", 4, NOTHING, name="ask", client_id=ids[case.client_id]),
        Ask("ListOffsets", 1, {"replica_id": -1, "topics": []}, name="again", client_id="other"),
        expect=all_of(answered("ask"), answered("again")),
    )


@claim(
    "versions.client-ids-need-not-be-utf-8",
    evidence=("WIRE-10", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
)
def test_client_ids_need_not_be_utf_8(case):
    """A request whose client id is not valid UTF-8 is answered."""
    request = struct.pack(">hhih", METADATA, 1, 7, 4) + b"\xff\xfe\x80a" + struct.pack(">i", 0)
    return case.scenario(
        Raw(request, name="ask", expect="answer", api="Metadata", version=1),
        expect=answered("ask"),
    )


@claim(
    "versions.negative-text-lengths-are-null",
    evidence=("WIRE-10", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    length=(-2, -32768),
)
def test_negative_text_lengths_are_null(case):
    """A request whose client id has any negative length is answered, as with a null client id."""
    request = struct.pack(">hhih", METADATA, 1, 7, case.length) + struct.pack(">i", 0)
    return case.scenario(
        Raw(request, name="ask", expect="answer", api="Metadata", version=1),
        expect=answered("ask"),
    )


@claim(
    "versions.unknown-tagged-fields-are-skipped",
    evidence=("KIP-482",),
    api="ApiVersions",
    versions=range_("ApiVersions", 3),
)
def test_unknown_tagged_fields_are_skipped(case):
    """ApiVersions ignores unknown tagged fields in the header and the body of a request."""
    software = {"client_software_name": "touchstone", "client_software_version": "1.0"}
    tagged = software | {"_tags": {900: b"new", 7000: b""}}
    header = struct.pack(">hhih", API_VERSIONS, case.version, 7, 1) + b"t"
    in_header = header + b"\x01\x64\x02ab" + b"\x02a" + b"\x021" + b"\0"
    return case.scenario(
        Ask("ApiVersions", case.version, tagged, name="body"),
        Raw(in_header, name="header", expect="answer", api="ApiVersions", version=case.version),
        expect=all_of(
            answer("body", "error_code").is_(ErrorCode.NONE),
            answer("header", "error_code").is_(ErrorCode.NONE),
        ),
    )


@claim(
    "versions.a-frame-may-come-in-pieces",
    evidence=("WIRE-10",),
    cut=(1, 4, 6, 20),
)
def test_a_frame_may_come_in_pieces(case):
    """A request that arrives in pieces is answered after its last piece and not before."""
    request = struct.pack(">hhih", METADATA, 1, 7, 10) + b"touchstone" + struct.pack(">i", 0)
    frame = struct.pack(">i", len(request)) + request
    return case.scenario(
        Raw(frame[: case.cut], name="head", framed=False, expect="silence"),
        Raw(
            frame[case.cut :],
            name="rest",
            framed=False,
            expect="answer",
            api="Metadata",
            version=1,
        ),
        expect=all_of(no_answer("head"), answered("rest")),
    )
