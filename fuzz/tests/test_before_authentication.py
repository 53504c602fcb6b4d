"""Broken frames on a SASL listener before the connection has proved who it is: nothing is served.

Each goes behind a state of the SASL exchange: nothing said, versions told, a mechanism chosen by
either version of the handshake (behind version 0 a token stands alone in its frame). The answers
hold nothing that only the cluster knows, what the frames ask for is not done, and no connection
stays behind.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from itertools import islice

import pytest

from touchstone.fuzz.campaign import campaigns, generated
from touchstone.fuzz.corpus_run import create_topics, wait_until
from touchstone.fuzz.generator import Generator, harmless, pairs_of
from touchstone.fuzz.runner import Link
from touchstone.fuzz.tests.test_sasl_listener import LISTENER, SETTINGS
from touchstone.fuzz.watches.processes import held_by
from touchstone.fuzz.world import TOPICS
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.framing import framed
from touchstone.reference_impl.wire.headers import encode_request

SECRET = "known-to-the-cluster-alone"  # a topic that no frame names
VERSIONS = (18, 0, {})
HANDSHAKE = (17, {"mechanism": "PLAIN"})
STATES = {
    "nothing said": [],
    "versions told": [VERSIONS],
    "chosen": [(17, 1, {"mechanism": "PLAIN"})],
    "versions told, chosen": [VERSIONS, (17, 1, {"mechanism": "PLAIN"})],
    "chosen by version 0": [(17, 0, {"mechanism": "PLAIN"})],
}
FRAMES, PATIENCE_S = 40, 10.0
MOST_GROWTH = 48 << 20  # bytes, of schemas that are compiled at first use


def frames(release: str, seed: int) -> Iterator[bytes]:
    """What lists all topics; then as they come, and broken once to three times."""
    yield framed(encode_request(3, 1, 9, "fuzz", {"topics": None}))
    pairs = harmless(pairs_of(advertised.table(release)))
    for name in ("valid", "frames"):
        cases = generated(campaigns()[name], lambda draw: Generator(pairs, draw), seed)
        yield from (sent.wire for _, sent, _ in islice(cases, FRAMES))


def answers(address: tuple[str, int], before: list, wire: bytes) -> bytes:
    """All that comes back until the broker closes, for our half is closed behind the frame."""
    said = b"".join(framed(encode_request(*one[:2], 1, "fuzz", one[2])) for one in before)
    with socket.create_connection(address, PATIENCE_S) as peer:
        heard = b""
        try:
            peer.sendall(said + wire)
            peer.shutdown(socket.SHUT_WR)
            while chunk := peer.recv(1 << 16):
                heard += chunk
        except ConnectionError:  # it was hung up on with bytes unread
            pass
    return heard


def world_of(link: Link) -> tuple[object, ...]:
    """What the frames could have changed: topics, groups, and where the secret topic ends."""
    topics = link.ask(3, 1, {"topics": None})
    groups = link.ask(16, 0, {})
    asked = {"name": SECRET, "partitions": [{"partition_index": 0, "timestamp": -1}]}
    ends = link.ask(2, 1, {"replica_id": -1, "topics": [asked]})
    return sorted(row["name"] for row in topics["topics"]), groups, ends


@pytest.fixture(scope="module", params=["1.0", "2.8", "4.3"])
def served(request):
    with serve(release=request.param, config=SETTINGS) as running:
        yield request.param, address_of(running.listeners[LISTENER]), address_of(running.bootstrap)


def address_of(listener: list[str]) -> tuple[str, int]:
    host, _, port = listener[0].rpartition(":")
    return host, int(port)


@pytest.mark.slow
def test_nothing_is_served_before_authentication(served):
    release, guarded, plain = served
    with Link(*plain) as link:
        create_topics(link, dict.fromkeys([*TOPICS, SECRET], False))
        before, held = world_of(link), held_by([os.getpid()])
        leaked = [
            (state, wire.hex())
            for state, exchange in STATES.items()
            for wire in frames(release, seed=1)
            if SECRET.encode() in answers(guarded, exchange, wire)
        ]
        assert leaked == []
        assert world_of(link) == before
        wait_until(lambda: held_by([os.getpid()]).sockets <= held.sockets, "sockets stay", link)
        assert held_by([os.getpid()]).memory - held.memory < MOST_GROWTH


@pytest.mark.slow
def test_the_same_frames_are_served_where_nobody_has_to_say_who_they_are(served):
    """Else the test above would find nothing, whatever leaked."""
    release, _, plain = served
    with Link(*plain) as link:
        create_topics(link, {SECRET: False})
    assert any(SECRET.encode() in answers(plain, [], wire) for wire in frames(release, seed=1))
