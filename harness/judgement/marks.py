"""What is odd in one row of a judged case: a mark each, with what makes two of them equal. Pure.

Equal are: API, field path (list indexes as [*]), kind; for error codes both codes, and for a step
that ended otherwise both endings: an answer that never comes and one that Kafka does not give are
opposite defects. Of other values their manner: too high and too low, absent and one too many are
opposite as well. The values themselves (offsets, names, counts) vary by case and are only shown.
What an element is called counts where it is Kafka's own name, and the only one of its step.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import grades, readers
from touchstone.harness.model.case_row import (
    CaseRow,
    DifferenceSign,
    FailureSign,
    FindingSign,
    Sign,
)
from touchstone.reference_impl.wire.apis import API

Pair = tuple[Any, Any]
_INDEX = re.compile(r"\[-?\d+\]")
_SETTING = r"[a-z]+(\.[a-z]+)+"  # and a feature
_APIS = frozenset(api.name for api in API.values())
EVERY = "[*]"
# Endings that something earlier brought, and topics that were made in another way than asked.
WEAK = frozenset({"not attempted", "unresolved", "gone", grades.MADE})
UNMET, ENDED = "unmet", "ended"  # ENDED: the target, and not only a connection
UNASKED = "unasked"  # all WEAK endings, in an identity
# Numbers of answers that scenarios count on in the requests behind them.
HANDED_BACK = frozenset({"generation_id", "member_epoch", "producer_epoch"})
EMPTY = ("", "0x", "[]", "{}")
LACKS, EXTRA, NULL, NO_NULL, EMPTIED = "absence", "extra", "null", "not-null", "empty"
RAISING = "raises"
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
    manner: str = ""  # how a value, or what only one side has, is wrong
    entity: str = ""  # what of Kafka's it is about: a topic, a setting, a feature, an API

    @property
    def word(self) -> str:
        """The identity as one word, the same in every run: what reports and pins call it."""
        path = ".".join(re.findall(r"\w+", self.path.replace(EVERY, "")))
        place = ".".join(word for word in (self.api or "bytes", path) if word)
        codes = "" if self.codes is None else f"{self.codes[0]},{self.codes[1]}"
        awaited = "awaited" if self.awaited else ""
        how = self.checker or codes or "-".join(filter(None, (self.manner, awaited)))
        return ":".join(filter(None, (place, how, self.entity)))


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
    entity: str = ""  # what the nearest element around the place is called


def marks(row: CaseRow) -> list[Mark]:
    """Everything in a row that decides, in the order of the steps."""
    found = _named(_awaited([_of_difference(one) for one in row["differences"]]))
    found = found or [_of_failure(one) for one in row.get("failures") or ()]
    found = found or [_of_finding(one) for one in row["findings"]]
    return sorted(found, key=lambda mark: mark.at) or [_of_reason(row)]


def notes(row: CaseRow) -> list[Mark]:
    """Everything in a row that decides nothing."""
    return _named(_awaited([
        _of_finding(one) if one.get("checker") else _of_difference(one)
        for one in row.get("notes") or ()
    ]))  # fmt: skip


def _named(found: list[Mark]) -> list[Mark]:
    """The marks, each with the entity in its identity if that is Kafka's own name for something,
    and no other of a step differs in the same way: a list of names is one thing that is missing.
    """
    names: dict[tuple[int, Identity], set[str]] = defaultdict(set)
    for mark in found:
        names[mark.at, mark.identity].add(mark.entity)
    return [
        replace(mark, identity=replace(mark.identity, entity=mark.entity))
        if len(names[mark.at, mark.identity]) == 1
        and is_kafkas(mark.entity)
        and mark.identity.path != grades.UNOFFERED
        and mark.identity.manner != EXTRA
        else mark
        for mark in found
    ]


def is_kafkas(name: str) -> bool:
    """Whether it is a name of Kafka's own, and none that the case made up: an internal topic, a
    setting, a feature, an API.
    """
    return name.startswith("__") or name in _APIS or re.fullmatch(_SETTING, name) is not None


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
    if path == grades.UNOFFERED:  # one cause, whichever APIs and versions it is
        identity = Identity(None, path, kind)
        return replace(_mark(one, identity, pair), entity=one.get("entity") or "")
    codes = _codes(kind, path, pair)
    manner = "" if codes else manner_of(kind, path, pair)
    if kind == grades.ABSENCE and readers.raises(one.get("api"), path, *pair):
        manner = RAISING
    mark = _mark(one, Identity(one.get("api"), path, kind, codes, manner=manner), pair)
    return replace(mark, entity=one.get("entity") or "")


def manner_of(kind: str, path: str, pair: Pair) -> str:
    """How a value is wrong, in a word that does not vary by case; nothing for the numbers that an
    epoch is, of which one that is wrong is wrong in both directions before long.
    """
    if kind in (grades.NUMBER, grades.STALE, grades.FILLER):
        return kind
    oracle, target = pair
    if kind == grades.ABSENCE:
        if is_empty(pair):
            return EMPTIED
        if grades.MISSING in pair:
            return LACKS if target == grades.MISSING else EXTRA
        return NULL if target is None else NO_NULL
    leaf = path.rpartition(".")[2]
    if kind != grades.VALUE or leaf.endswith(("epoch", "generation_id")):
        return ""
    way = _way(*pair)
    if way:
        return way
    words = [_stem(one) for one in pair]
    return "" if words[0] == words[1] else words[1]  # what is wrong there, whatever belongs there


def _way(oracle: Any, target: Any) -> str:
    """In which direction a number is wrong; nothing where either side is none. A symbol of the run
    is more than what stands for nothing, and of no size beside other numbers.
    """
    sizes = [_size(one) for one in (oracle, target)]
    incomparable = any(map(math.isnan, sizes)) or (math.inf in sizes and min(sizes) > 0)
    if incomparable or sizes[0] == sizes[1]:
        return ""
    more = sizes[1] > sizes[0]
    if min(sizes) < 0:
        return "set" if more else "unset"
    return "more" if more else "less"


def _size(value: Any) -> float:
    """The size of a number, of a symbol, NaN of anything else."""
    if isinstance(value, str):
        return math.inf if value.startswith("$") else math.nan
    return math.nan if value is None or isinstance(value, bool) else value


def _stem(value: Any) -> str:
    """What a value is, in a word: itself where it names a state, else what sort it is of."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "number"
    if re.fullmatch(r"([A-Z][a-z]+)+", value):
        return value
    if value in EMPTY:
        return "nothing"
    sorts = {"$": "symbol", "0": "bytes", "[": "list", "{": "struct"}
    return sorts.get(value[:1], "text")


def is_empty(pair: Pair) -> bool:
    """Whether one side has null where the other has nothing in it: few clients could tell."""
    return None in pair and any(side in EMPTY for side in pair)


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
