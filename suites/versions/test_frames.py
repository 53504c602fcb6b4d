"""Frames that are none: sizes, headers and bodies that lie. The broker hangs up on that peer alone.

Sources: NetworkReceive and SocketServer at 1.0.2 and 2.8.2 (InvalidReceiveException closes),
RequestHeader.parse, RequestContext.parseRequest; clauses WIRE-18, WIRE-19.
"""

import struct

from touchstone.harness.model import advertised
from touchstone.harness.model.claim import OBSERVED, claim
from touchstone.harness.model.expect import all_of, answered, connection, refused
from touchstone.harness.model.scenario import Frame, Raw
from touchstone.harness.model.steps import metadata
from touchstone.reference_impl.wire.apis import by_name

APIS = ("Produce", "Fetch", "ListOffsets", "Metadata", "CreateTopics", "DeleteTopics")
EMPTY = {
    "Metadata": (1, {"topics": []}),
    "ListOffsets": (1, {"topics": [], "replica_id": -1}),
    "Produce": (3, {"acks": -1, "timeout_ms": 100, "topic_data": []}),
}
LARGEST = 100 << 20  # socket.request.max.bytes
HEADER = struct.pack(">hhih", 3, 1, 7, 10) + b"touchstone"


def newest(case, api):
    return advertised.table(case.release)[by_name(api).key][1]


def hung_up(case, data, *, framed=True):
    """The bytes on a connection of their own, which must be lost, while another one is served."""
    return case.scenario(
        metadata(name="before"),
        Raw(data, name="odd", connection="b", expect="close", framed=framed),
        metadata(name="after"),
        expect=all_of(refused("odd"), answered("after"), connection("a").is_("kept")),
    )


@claim(
    "versions.sizes-out-of-bounds-close-the-connection",
    evidence=("WIRE-18",),
    size=(-1, -(2**31), LARGEST + 1, 2**31 - 1),
)
def test_sizes_out_of_bounds_close_the_connection(case):
    """A size that is negative or above socket.request.max.bytes closes its connection without an
    answer; others go on."""
    return hung_up(case, struct.pack(">i", case.size) + HEADER, framed=False)


@claim(
    "versions.cut-headers-close-the-connection",
    evidence=("WIRE-18",),
    length=(0, 1, 3, 4, 7, 8, 9),
)
def test_cut_headers_close_the_connection(case):
    """A frame that ends within its header closes its connection without an answer; others go on."""
    return hung_up(case, HEADER[: case.length])


@claim(
    "versions.cut-bodies-close-the-connection",
    evidence=("WIRE-18",),
    asked=APIS,
    cut=(1, 5),
)
def test_cut_bodies_close_the_connection(case):
    """A request whose body ends too early closes its connection without an answer; others go on."""
    bodies = {"Metadata": {"topics": [{"name": "cut"}]}}
    frame = Frame(case.asked, newest(case, case.asked), bodies.get(case.asked, {}), cut=-case.cut)
    return hung_up(case, frame)


@claim(
    "versions.lengths-beyond-the-frame-close-the-connection",
    evidence=("WIRE-18",),
    length=(2, 1000, 32767),
)
def test_lengths_beyond_the_frame_close_the_connection(case):
    """A string whose length exceeds its frame closes the connection without an answer; others go
    on."""
    lie = struct.pack(">hhih", 3, 1, 7, 10) + b"touchstone" + struct.pack(">ih", 1, case.length)
    return hung_up(case, lie + b"a")


@claim(
    "versions.arrays-beyond-the-frame-close-the-connection",
    evidence=("WIRE-18",),
    count=(1, 1 << 20, 2**31 - 1),
)
def test_arrays_beyond_the_frame_close_the_connection(case):
    """An array that announces more elements than its frame holds closes the connection without an
    answer; others go on."""
    return hung_up(case, HEADER + struct.pack(">i", case.count))


@claim(
    "versions.bytes-after-a-request-are-ignored",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    asked=tuple(EMPTY),
    after=(b"\0", b"\xff" * 9),
)
def test_bytes_after_a_request_are_ignored(case):
    """A request with further bytes behind its body is answered."""
    version, body = EMPTY[case.asked]
    frame = Frame(case.asked, version, body, append=case.after)
    return case.scenario(
        Raw(frame, name="odd", expect="answer"),
        metadata(name="after"),
        expect=all_of(answered("odd"), answered("after")),
    )


@claim(
    "versions.other-protocols-are-hung-up-on",
    evidence=("WIRE-18",),
    spoken=("http", "tls", "zeros"),
)
def test_other_protocols_are_hung_up_on(case):
    """A peer that speaks HTTP or TLS, or sends zeros, has its connection closed; other connections
    go on."""
    spoken = {
        "http": b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
        "tls": bytes.fromhex("16030100c8010000c40303") + b"\x5a" * 190,
        "zeros": bytes(64),
    }
    return hung_up(case, spoken[case.spoken], framed=False)
