"""The bytes of one request and a client of a few lines that sends them, for who has no Touchstone.

A program is made that needs Python and nothing else: it connects, sends the frame as it was sent
and prints the answer as hex. Everything in it is ours: bytes as hex digits, the address as a
literal, the API by its registered name. A connection that somebody has logged in on gives none,
for the frames of a login hold credentials and what follows them means nothing without it. Pure.
"""

from __future__ import annotations

import re

from touchstone.harness.judgement.verdict import Verdict
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire.apis import API, by_name

LOGIN = frozenset(by_name(api).key for api in ("SaslHandshake", "SaslAuthenticate"))
LONGEST = 16 << 10  # bytes of a frame; a longer one is in the bundle
WIDTH = 64  # hex digits of a line
NOWHERE = ("localhost", 9092)  # of a target that is no address
_ADDRESS = re.compile(r"(?:.*=)?\[?([\w.:-]+)\]?:(\d+)(?:,.*)?")
_PROGRAM = """\
import socket

# {what}
frame = bytes.fromhex(
{frame}
)
with socket.create_connection({address!r}, 10) as broker:
    broker.sendall({sent})
    size = int.from_bytes(broker.recv(4, socket.MSG_WAITALL), "big")
    print(broker.recv(size, socket.MSG_WAITALL).hex() if size else "closed without an answer")
"""


def of_case(seen: Transcript, verdict: Verdict) -> str:
    """A client for the first request that differs; empty where there is none to send."""
    places = [(one.at, one.step) for one in verdict.differences]
    places += [(one.at, one.step) for one in verdict.failures]
    places += [(one.at, one.step) for one in verdict.findings]
    steps = [step for _, step in sorted(places)]
    sent = {seen.label(event.step): event for event in seen.events if event.direction == "sent"}
    first = next((sent[step] for step in steps if step in sent), None)
    return "" if first is None else of(seen, first)


def of(seen: Transcript, request: Event) -> str:
    """A client for this request."""
    mine = [one for one in seen.events if one.connection == request.connection]
    if any(one.api in LOGIN for one in mine) or not 0 < len(request.raw) <= LONGEST:
        return ""
    digits = request.raw.hex()
    rows = [f'    "{digits[at : at + WIDTH]}"' for at in range(0, len(digits), WIDTH)]
    framed = 'len(frame).to_bytes(4, "big") + frame'
    return _PROGRAM.format(
        what=_what(request), frame="\n".join(rows), address=_address(seen.header.target),
        sent=framed if request.framed else "frame",
    )  # fmt: skip


def _what(request: Event) -> str:
    if request.api is None or request.api not in API or request.version is None:
        return "bytes of no API"
    size = " behind its size" if request.framed else ""
    return f"{API[request.api].name} v{request.version}{size}"


def _address(target: str) -> tuple[str, int]:
    """The first address of a target that was named by one."""
    found = _ADDRESS.fullmatch(target)
    return (found[1], int(found[2])) if found else NOWHERE
