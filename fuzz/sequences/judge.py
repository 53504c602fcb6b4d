"""What came of a script, read: its signature, and what it should not have been.

A script's signature is the fold of its steps' signatures (`fuzz.outcome`), each with its API key.
Judgement of a step stops at the first one that is not as expected: what the target believes from
there on, nobody knows. After a broken request it goes on only where the target refused that at once
and nothing of it is left (`changed_nothing`). One that was kept waiting may be
refused in the end, and has had others answered differently meanwhile. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import CLOSED, KEPT, RESET, SILENT, Outcome, signature
from touchstone.fuzz.script import Expected, referenced_value
from touchstone.fuzz.segments import SIZE
from touchstone.fuzz.sequences.played import Played
from touchstone.harness.model.path import PathError, get
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.schema import Struct

CODES = ("error_code", "partition_error_code", "acknowledge_error_code")


CHANGING = {
    int(code)
    for code in (
        E.MEMBER_ID_REQUIRED, E.CONCURRENT_TRANSACTIONS, E.NOT_COORDINATOR,
        E.INCONSISTENT_GROUP_PROTOCOL, E.UNKNOWN_SERVER_ERROR,
    )
}  # fmt: skip
"""Refusals that leave something behind: a member that is expected, a transaction being aborted, a
group that the refused join has made, and whatever was done before something threw: the epoch of a
fetch session whose isolation level does not exist, the generation of a group in which a member's
metadata cannot be read (both seen on 3.9.2 and 4.3.1).
"""

ADDS_FIRST = {0: 12, 28: 5}
"""Produce and TxnOffsetCommit, from the versions of KIP-890: what they write to is in the
transaction before it is looked at, so a refusal leaves it there. Produce was seen on 4.3.1,
TxnOffsetCommit is from the KIP and not seen yet.
"""


def codes_in(value: Any) -> Iterator[int]:
    """Every error code of an answer, 0 included, in the order of its fields."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in CODES:
                yield inner
            else:
                yield from codes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes_in(inner)


def code_of(body: Struct) -> int:
    """The first error code that is not 0; 0 when there is none."""
    return next((code for code in codes_in(body) if code), 0)


def was_refused(body: Struct) -> bool:
    """Whether an answer says that all of its request was refused, and so changed nothing: by its
    own error code where it has one (a session counts a request whose partitions are refused), else
    by that of every row.
    """
    own = body.get("error_code")
    codes = list(codes_in(body)) if own is None else [own]
    return bool(codes) and all(codes) and not CHANGING & set(codes)


def changed_nothing(wire: bytes, outcome: Outcome, body: Struct | None) -> bool:
    """Whether what was sent was refused, and its refusal leaves nothing behind. `body`: of the
    answer, None where none parses.
    """
    refused = outcome.end == KEPT and body is not None and was_refused(body)
    return refused and not _adds_first(wire)


def _adds_first(wire: bytes) -> bool:
    sent = sent_frame(wire)
    least = ADDS_FIRST.get(sent.key)
    if least is None or sent.version < least:
        return False
    try:
        return decode_request(wire[SIZE:]).body["transactional_id"] is not None
    except ValueError:
        return False  # nor does the target know what to add


def signature_of(played: Played) -> str:
    """What two correct targets share in their reaction to a script."""
    return " | ".join(
        f"{sent.key}: {signature(sent.key, sent.version, outcome)}"
        for sent, outcome in zip(map(sent_frame, played.sent), played.outcomes, strict=False)
    )


def complaint(played: Played) -> tuple[int, str] | None:
    """(number of the step, what is wrong) of the first step that was not as expected. From the
    first broken request on that was not refused nobody knows what to expect: neither of later
    steps, nor of those that still waited then, which it may have released.
    """
    steps = list(zip(played.script.steps, played.outcomes, strict=False))
    known = next(
        (n for n, (step, got) in enumerate(steps) if step.faults and not _refused(played, n, got)),
        len(steps),
    )
    for number, (step, outcome) in enumerate(steps[:known]):
        if step.expected is None:
            continue
        if step.expected.held and known < len(steps) and _unreleased(played, number, known):
            continue
        wrong = _wrong(played, number, step.expected, outcome)
        if wrong:
            return number, f"step {number}, {step.note}: {wrong}"
    return None


def as_expected(played: Played) -> str | None:
    """An answer that the script does not expect; the sentence says which and where."""
    wrong = complaint(played)
    return wrong[1] if wrong else None


def _refused(played: Played, number: int, outcome: Outcome) -> bool:
    at_once = number not in played.held
    return at_once and changed_nothing(played.sent[number], outcome, played.answers.get(number))


def _wrong(played: Played, number: int, expected: Expected, outcome: Outcome) -> str | None:
    wanted = " or ".join(map(name_of, expected.codes)) or "the end of the connection"
    if expected.held and _unreleased(played, number):
        return f"answered although it has to wait: {said(played, number)}" if (
            number in played.early or outcome.end != SILENT
        ) else None  # fmt: skip
    if expected.held and number in played.early:
        return f"answered before it was released: {said(played, number)}"
    if not expected.codes:
        return None if outcome.end in (CLOSED, RESET) else f"{outcome.end}, wanted {wanted}"
    body = played.answers.get(number)
    if outcome.end != KEPT or body is None:
        return f"{outcome.end} without an answer that parses, wanted {wanted}"
    if code_of(body) not in expected.codes:
        return f"answered {name_of(code_of(body))}, wanted {wanted}"
    return None if code_of(body) else other_values(played.answers, body, expected)


def _unreleased(played: Played, number: int, before: int | None = None) -> bool:
    """Whether no step of the script, or of those before one, releases this one."""
    return not any(
        step.expected is not None and step.expected.releases == number
        for step in played.script.steps[:before]
    )


def other_values(answers: Mapping[int, Struct], body: Struct, expected: Expected) -> str | None:
    """What an answer does not show of what is expected of it; None when it shows all."""
    wanted = list(expected.values)
    for reference in expected.equal:
        try:
            wanted.append((reference.into, referenced_value(reference, answers)))
        except (KeyError, PathError):
            continue  # the earlier answer is judged where it was given
    for path, value in wanted:
        try:
            there = get(body, path)
        except PathError as problem:
            return str(problem)
        if there != value:
            return f"{path} is {there!r}, wanted {value!r}"
    return None


def said(played: Played, number: int) -> str:
    body = played.answers.get(number)
    return name_of(code_of(body)) if body is not None else "no answer that parses"


def name_of(code: int) -> str:
    try:
        return f"{E(code).name} ({code})"
    except ValueError:
        return str(code)
