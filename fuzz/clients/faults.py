"""What becomes of one answer on its way to a client: a mutator's fault, or a fault of the exchange.

A case is a `Fault`: which answers (an API key, in a version that the client is made to use by
capping what ApiVersions offers; the nth one, and how many from there), and what becomes of them.
After the last of them the broker is honest again, and a client has to find its way back. All of it
descends from (seed, index); no socket and no clock here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.fuzz.generator import Generator, Pair, pairs_of
from touchstone.fuzz.layers import SIZE, open_response
from touchstone.fuzz.mutators import described
from touchstone.harness.adapters.proxy import CLOSE, GO_ON, SILENCE
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import API_VERSIONS
from touchstone.reference_impl.wire.schema import Struct

Spoil = Callable[[int, int, bytes, random.Random], tuple[bytes, str]]
SIZES = (-1, -(2**31), 0, 1, 2**27, 2**31 - 1, 0x48545450)  # the last: "HTTP" read as a size
ON_REQUESTS_ONLY = {"header_client", "header_tags", "reheader"}


def other_correlation(
    key: int, version: int, wire: bytes, draw: random.Random
) -> tuple[bytes, str]:
    """The answer to a request that was not sent."""
    wrong = draw.choice((0, -1, 2**31 - 1, int.from_bytes(wire[4:8], "big", signed=True) + 1))
    return wire[:SIZE] + (wrong & 0xFFFFFFFF).to_bytes(4, "big") + wire[8:], GO_ON


def text(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
    """What a web server says."""
    return b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", CLOSE


def wrong_size(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
    """A size that no frame has, or that promises more than comes."""
    return draw.choice(SIZES).to_bytes(SIZE, "big", signed=True) + wire[SIZE:], CLOSE


def cut(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
    """A part of the answer, and then the end of the connection."""
    return wire[: draw.randrange(len(wire))], CLOSE


def stalled(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
    """A part of the answer, and then nothing any more."""
    return wire[: draw.randrange(len(wire))], SILENCE


def another_message(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
    """A well-formed answer of this API and version that has nothing to do with the question."""
    pair = Pair(key, version)
    made = Generator([pair], draw).response_to(pair, int.from_bytes(wire[4:8], "big", signed=True))
    return made, GO_ON


def _of_mutator(name: str) -> Spoil:
    def spoil(key: int, version: int, wire: bytes, draw: random.Random) -> tuple[bytes, str]:
        return described()[name].on_response(key, version, wire, draw), GO_ON

    return spoil


EXCHANGE: dict[str, Spoil] = {
    one.__name__: one
    for one in (other_correlation, text, wrong_size, cut, stalled, another_message)
}
WAYS: dict[str, Spoil] = EXCHANGE | {
    name: _of_mutator(name) for name in described() if name not in ON_REQUESTS_ONLY
}
"""Every way to spoil an answer, by name."""
OFTEN = 3
"""So much more often a fault of the exchange is drawn than each mutator: proxies, balancers and
brokers that restart commit these every day.
"""
SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36
LOGIN = (SASL_HANDSHAKE, SASL_AUTHENTICATE)
"""What a client asks only where it logs in."""
LAYERS = {"batch framing", "batch header", "control", "record", "record framing", "stored"}
IN_RECORDS = {name for name, one in described().items() if one.layer in LAYERS}
FETCH = 1
ONLY_FOR: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(IN_RECORDS, (FETCH,)), "message_field": (FETCH,),
    "embedded_protocol": (11, 14, 15), "telemetry_payload": (),
    "sasl_token": (SASL_AUTHENTICATE,),
}  # fmt: skip
"""The API keys whose answers have what these change; the others fit any."""
OF_ITS_OWN = 0.5
"""The share of cases whose fault is in what only answers of their API have, where there is such."""


ASKED_ONCE = (9, 10, 11, 14, 18, 22, *LOGIN)
"""What a client asks when it begins, and again only when something went wrong."""


LASTING = (11, 14)
"""JoinGroup and SyncGroup: what they say holds until the group rebalances."""


@dataclass(frozen=True)
class Fault:
    """One case: answers number `nth` (from 1) to `nth + times - 1` of this API are spoiled.

    `version` is the highest of it that ApiVersions offers, None for the broker's own.
    """

    key: int
    version: int | None
    nth: int
    times: int
    way: str
    seed: str

    @property
    def sentence(self) -> str:
        version = "" if self.version is None else f" v{self.version}"
        many = f"{self.times} answers from the" if self.times > 1 else "the"
        return f"{API[self.key].name}{version}: {many} {_ordinal(self.nth)} under {self.way}"


def _ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"


def askable(keys: Sequence[int], served: Mapping[int, tuple[int, int]]) -> list[Pair]:
    """What a client of these API keys may be made to ask a broker that serves these versions (key
    to lowest and highest). A client chooses its version of ApiVersions before it is told anything,
    so that API stands here once, in the highest.
    """
    highest = served[API_VERSIONS][1]
    ranges = {**served, API_VERSIONS: (highest, highest)}
    return pairs_of({key: ranges[key] for key in keys if key in ranges})


def drawn(seed: int, index: int, pairs: Sequence[Pair]) -> Fault:
    """Case number `index` of this seed: its pair is the next one in this seed's order, so that so
    many cases as there are pairs come to all of them. In that first turn the first answer is
    spoiled, which every client that asks at all gets.
    """
    turn, place = divmod(index, len(pairs))
    pair = random.Random(f"{seed}/clients").sample(pairs, len(pairs))[place]
    name = f"{seed}/clients/{index}"
    draw = random.Random(name)
    own = [way for way in WAYS if pair.key in ONLY_FOR.get(way, ())]
    anyones = [way for way in WAYS if way not in ONLY_FOR]
    version = None if pair.key == API_VERSIONS else pair.version
    once = turn == 0 or pair.key in ASKED_ONCE
    nth = 1 if once else draw.choice((1, 1, 1, 2, 3))
    if pair.key == SASL_AUTHENTICATE:  # SCRAM has two answers
        nth = draw.choice((1, 2))
    times = draw.choice((1, 1, 2, 5))
    weights = [OFTEN if way in EXCHANGE else 1 for way in anyones]
    ways = (own, None) if own and draw.random() < OF_ITS_OWN else (anyones, weights)
    return Fault(pair.key, version, nth, times, draw.choices(*ways)[0], name)


class Spoiler:
    """Answers pass here on their way to a client; the fault's are spoiled.

    `misleads`: a well-formed lie told the client of an assignment or a generation, which no honest
    answer takes back.
    """

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault
        self.seen = 0
        self.fired = 0
        self.misleads = False
        self.ended = False
        self.last: tuple[bytes, bytes] = (b"", b"")  # as it was, as it went out
        self.asked: set[Pair] = set()  # in which versions the client asked for the fault's API

    @property
    def over(self) -> bool:
        """Whether every answer that was to be spoiled has gone out."""
        return self.ended or self.fault is None or self.fired >= self.fault.times

    def end(self) -> None:
        """Be honest from now on, whatever the fault says."""
        self.ended = True

    def answer(self, key: int, version: int, wire: bytes, own_port: int) -> tuple[bytes, str]:
        """The bytes that go to the client in place of these (a frame, size included), and what
        follows them. `own_port` is where the client has to go for every broker: addresses in
        answers become it.
        """
        wire = self._addressed(key, version, wire, own_port)
        fault = self.fault
        if fault is None or key != fault.key or self.ended:
            return wire, GO_ON
        self.seen += 1
        self.asked.add(Pair(key, version))
        if not fault.nth <= self.seen < fault.nth + fault.times:
            return wire, GO_ON
        self.fired += 1
        draw = random.Random(f"{fault.seed}/{self.fired}")
        spoiled, then = WAYS[fault.way](key, version, wire, draw)
        self.last = (wire, spoiled)
        opened = open_response(key, version, spoiled)
        self.misleads |= key in LASTING and opened is not None and not opened.behind
        return spoiled, then

    def _addressed(self, key: int, version: int, wire: bytes, own_port: int) -> bytes:
        """The answer with our port for every broker's, and the cap on the fault's version."""
        opened = open_response(key, version, wire)
        if opened is None:
            return wire
        if key == API_VERSIONS:
            cap(opened.body, self.fault)
        else:
            readdress(opened.body, own_port)
        return opened.closed()


def readdress(value: object, port: int) -> None:
    """Put this port wherever a struct has a host and a port."""
    if isinstance(value, dict):
        if value.get("host") and isinstance(value.get("port"), int):
            value["port"] = port
        for inner in value.values():
            readdress(inner, port)
    elif isinstance(value, list):
        for inner in value:
            readdress(inner, port)


def cap(body: Struct, fault: Fault | None) -> None:
    """Offer the fault's API up to the fault's version, where the broker serves that. With the first
    SaslHandshake goes no SaslAuthenticate: tokens behind it are no requests (KIP-152).
    """
    if fault is None or fault.version is None:
        return
    if (fault.key, fault.version) == (SASL_HANDSHAKE, 0):
        rows = body.get("api_keys", [])
        rows[:] = [row for row in rows if row["api_key"] != SASL_AUTHENTICATE]
    for row in body.get("api_keys", ()):
        if row["api_key"] == fault.key and row["min_version"] <= fault.version:
            row["max_version"] = min(row["max_version"], fault.version)
