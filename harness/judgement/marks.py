"""What is odd in one row of a judged case: a mark each, with what makes two of them equal. Pure.

Equal are: API, field path (list indexes as [*]), kind; for error codes both codes, and for a step
that ended otherwise both endings: an answer that never comes and one that Kafka does not give are
opposite defects. Other values (offsets, names, counts) vary by case and are only shown.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import grades
from touchstone.harness.model.case_row import (
    CaseRow,
    DifferenceSign,
    FailureSign,
    FindingSign,
    Sign,
)

Pair = tuple[Any, Any]
_INDEX = re.compile(r"\[-?\d+\]")
EVERY = "[*]"
# Endings that something earlier brought, and topics that were made in another way than asked.
WEAK = frozenset({"not attempted", "unresolved", "gone", grades.MADE})
UNMET, ENDED = "unmet", "ended"  # ENDED: the target, and not only a connection
UNASKED = "unasked"  # all WEAK endings, in an identity
# Numbers of answers that scenarios count on in the requests behind them.
HANDED_BACK = frozenset({"generation_id", "member_epoch", "producer_epoch"})
LONGEST_CODE = 100  # characters of a code, or of a list of codes, as an expectation words it


@dataclass(frozen=True, slots=True)
class Identity:
    """What two marks share when they are one: everything that does not vary by case."""

    api: str | None
    path: str
    kind: str
    codes: Pair | None = None  # error codes, or how a step ended: Kafka's and the target's
    checker: str = ""
    awaited: bool = False  # a value that a wait never saw change

    @property
    def word(self) -> str:
        """The identity as one word, the same in every run: what reports and pins call it."""
        path = ".".join(re.findall(r"\w+", self.path.replace(EVERY, "")))
        place = ".".join(word for word in (self.api or "bytes", path) if word)
        if self.checker:
            return f"{place}:{self.checker}"
        if self.codes is not None:
            return f"{place}:{self.codes[0]},{self.codes[1]}"
        if self.awaited:
            return f"{place}:awaited"
        return f"{place}:absence" if self.kind == grades.ABSENCE else place


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that is odd in one row, as its row tells it."""

    identity: Identity
    step: str
    at: int
    version: int | None
    pair: Pair
    stands: str
    sentence: str = ""  # of a checker's finding
    expected: bool = False  # the pair is what an expectation wanted and got, in its words


def marks(row: CaseRow) -> list[Mark]:
    """Everything in a row that decides, in the order of the steps."""
    found = _awaited([_of_difference(one) for one in row["differences"]])
    found = found or [_of_failure(one) for one in row.get("failures") or ()]
    found = found or [_of_finding(one) for one in row["findings"]]
    return sorted(found, key=lambda mark: mark.at) or [_of_reason(row)]


def notes(row: CaseRow) -> list[Mark]:
    """Everything in a row that decides nothing."""
    return _awaited([
        _of_finding(one) if one.get("checker") else _of_difference(one)
        for one in row.get("notes") or ()
    ])  # fmt: skip


def _awaited(found: list[Mark]) -> list[Mark]:
    """The marks, those of values apart on which a wait ended in vain.

    There the target answered as it should and did not do what was waited for, a retention or a
    rebalance; where another value is answered outright the answer is wrong.
    """
    in_vain = {mark.at for mark in found if mark.pair[1] == UNMET}
    return [
        replace(mark, identity=replace(mark.identity, awaited=True))
        if mark.at in in_vain and mark.identity.kind == grades.VALUE
        else mark
        for mark in found
    ]


def _of_difference(one: DifferenceSign) -> Mark:
    path, pair = starred(one["path"]), (_plain(one["oracle"]), _plain(one["target"]))
    kind = one.get("kind") or grades.kind_of(one["path"], one["oracle"], one["target"])
    return _mark(one, Identity(one.get("api"), path, kind, _codes(kind, path, pair)), pair)


def _of_failure(one: FailureSign) -> Mark:
    path = starred(one["path"])
    kind = one.get("kind") or grades.kind_of_failure(one["path"])
    pair = _number(one["wanted"]), _number(one["got"])
    identity = Identity(one.get("api"), path, kind, _codes(kind, path, pair))
    return replace(_mark(one, identity, pair), expected=True)


def _codes(kind: str, path: str, pair: Pair) -> Pair | None:
    """Both codes of a difference of codes, or both endings of a step; what stands there and is too
    long for a code varies.
    """
    if kind == grades.CONNECTION and path == "connection":
        oracle, target = (UNASKED if one in WEAK else one for one in pair)
        return oracle, target
    fits = all(len(str(one)) <= LONGEST_CODE for one in pair)
    return pair if (kind == grades.CODE or pair[1] == ENDED) and fits else None


def _of_finding(one: FindingSign) -> Mark:
    if one["path"] == ANSWER:  # the same as the difference that other cases tell of
        identity = Identity(one.get("api"), ANSWER, grades.CONNECTION)
        return _mark(one, identity, ("decodes", one["sentence"]), one["sentence"])
    kind = one.get("kind") or grades.kind_of_finding(one["checker"])
    identity = Identity(one.get("api"), starred(one["path"]), kind, checker=one["checker"])
    return _mark(one, identity, (None, None), one.get("sentence") or "")


def _of_reason(row: CaseRow) -> Mark:
    """Rows of before failures were kept have nothing but their reason."""
    identity = Identity(row.get("api"), "", grades.VALUE)
    return Mark(identity, "", 0, row.get("version"), (None, None), grades.ASKED, row["reason"])


def _mark(one: Sign, identity: Identity, pair: Pair, sentence: str = "") -> Mark:
    return Mark(
        identity, one["step"], one.get("at") or 0, one.get("version"), pair,
        one.get("stands") or grades.ASKED, sentence,
    )  # fmt: skip


def starred(path: str) -> str:
    """A path without its list indexes: what does not vary by case."""
    return _INDEX.sub(EVERY, path)


def _plain(value: Any) -> Hashable:
    """A value as text where it is none that can be counted."""
    return value if isinstance(value, str | int | float | None) else str(value)


def _number(text: str) -> Any:
    return int(text) if re.fullmatch(r"-?\d+", text) else text
