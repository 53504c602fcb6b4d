"""What crossed somebody's sockets, made a Script: requests in their order, and the values in them
that an earlier answer had brought.

A reference is found where a request has a value of a semantic role (ROLES: a member id, an epoch, a
producer id, the id of a session or a topic) that the answer to an earlier request had in a field of
that role; of several the latest. Values that only happen to be equal have no role. So a transcript
plays on another target, whose ids are others. Pure; `sources.py` reads files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.harness.model.path import Step as PathStep
from touchstone.harness.model.path import spell
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.headers import Request, decode_request, decode_response
from touchstone.reference_impl.wire.records.batch import read_header
from touchstone.reference_impl.wire.schema import Struct

Path = tuple[PathStep, ...]
MEMBER, EPOCHS = ("member_id",), ("generation_id", "member_epoch")
ROLES: dict[str, tuple[str, ...]] = {
    "member_id": MEMBER,
    "generation_id": EPOCHS,
    "member_epoch": EPOCHS,
    "generation_id_or_member_epoch": EPOCHS,
    "producer_id": ("producer_id",),
    "v3_and_below_producer_id": ("producer_id",),
    "producer_epoch": ("producer_epoch",),
    "v3_and_below_producer_epoch": ("producer_epoch",),
    "session_id": ("session_id",),
    "topic_id": ("topic_id",),
}
"""Field of a request -> the fields of answers that bring its value."""
IDS = tuple(ROLES)
NAMES = (
    "group_id", "group_ids", "groups", "groups_names", "transactional_id", "transactional_ids",
    "v3_and_below_transactional_id", "coordinator_keys", "key",
)  # fmt: skip
"""Fields that name groups and transactions, which exist as soon as they are named."""
CREATE_TOPICS = 19
IN_RECORDS = ("producer_id", "producer_epoch")
NOTHING = (None, "", -1, 0, bytes(16))
"""Values that say "none yet", which no answer needs to have brought."""


@dataclass(frozen=True)
class Spoken:
    """One request as it crossed a connection, without its size, and the answer if there was one."""

    connection: str
    request: bytes
    answer: bytes | None = None


def script_of(spoken: Iterable[Spoken], note: str = "") -> Script:
    """The script of these requests."""
    connections: dict[str, int] = {}
    brought: list[tuple[str, Any, int, str]] = []  # field, value, step, path
    steps: list[Step] = []
    names: dict[str, None] = {}
    for one in spoken:
        number = len(steps)
        request = _request(one.request)
        references = () if request is None else tuple(references_in(request.body, brought))
        connection = connections.setdefault(one.connection, len(connections))
        steps.append(Step(frame(one.request), connection, references, note=note))
        if request is None:
            continue
        names |= dict.fromkeys(_names(request))
        answer = _answer(request, one.answer)
        if answer is not None:
            brought += [
                (str(path[-1]), value, number, spell(path))
                for path, value in leaves(answer)
                if path[-1] in ROLES and value not in NOTHING
            ]
    return Script(tuple(steps), tuple(names))


def references_in(
    body: Struct, brought: Sequence[tuple[str, Any, int, str]]
) -> Iterator[Reference]:
    """The values of a request that earlier answers brought."""
    for path, value in leaves(body):
        roles = ROLES.get(str(path[-1]), ())
        for field, known, step, out_of in reversed(brought) if value not in NOTHING else ():
            if field in roles and known == value:
                yield Reference(spell(path), step, out_of)
                break


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every primitive value with its path; the header fields of record batches (IN_RECORDS) too."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        if path and path[-1] == "records" and value:
            yield from _of_batch(bytes(value), path)
        yield path, value


def _of_batch(records: bytes, path: Path) -> Iterator[tuple[Path, Any]]:
    try:
        header = read_header(records)
    except ValueError:
        return
    for name in IN_RECORDS:
        yield (*path, name), getattr(header, name)


def _names(request: Request) -> Iterator[str]:
    topics = request.header.key == CREATE_TOPICS
    for path, value in leaves(request.body):
        field = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
        if isinstance(value, str) and value and (
            field in NAMES or (topics and path[0] == "topics" and path[-1] == "name"
                               and "configs" not in path)
        ):  # fmt: skip
            yield value


def _request(raw: bytes) -> Request | None:
    try:
        return decode_request(raw)
    except ValueError:
        return None


def _answer(request: Request, raw: bytes | None) -> Struct | None:
    if raw is None:
        return None
    try:
        return decode_response(request.header.key, request.header.version, raw).body
    except (ValueError, KeyError):
        return None


def spoken_in(transcript: Transcript) -> Iterator[Spoken]:
    """The framed requests of a transcript, in the order in which they were sent."""
    for trip in transcript.round_trips:
        if trip.sent is not None and trip.sent.framed and trip.sent.raw:
            answer = None if trip.received is None else trip.received.raw
            yield Spoken(trip.sent.connection, trip.sent.raw, answer)
