"""What equal differences of several cases share, by which a run stops to ask each of them again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import grades, marks
from touchstone.harness.judgement.verdict import Verdict

GARBLED = "garbled"  # how a step ended at bytes that begin no frame


@dataclass(frozen=True, slots=True)
class Sign:
    """What equal differences of several cases share."""

    api: str | None
    path: str
    kind: str
    pair: tuple[str, str] | None

    @property
    def unreadable(self) -> bool:
        """Whether it is that bytes came which are no answer of this API."""
        if self.api is None or self.kind != grades.CONNECTION:
            return False
        return self.path == ANSWER or (self.pair is not None and self.pair[1] == GARBLED)


def sign(verdict: Verdict) -> Hashable:
    """What a verdict shares with others whose first difference is equal. Why an answer cannot be
    read varies with its bytes, as values do.
    """
    first = next(iter(verdict.differences), None)
    if first is None:
        return verdict.signature
    bytes_vary = first.path == ANSWER and first.api is not None
    varies = bytes_vary or first.kind not in (grades.CODE, grades.CONNECTION)
    pair = None if varies else (str(first.oracle), str(first.target))
    return Sign(first.api, marks.starred(first.path), first.kind, pair)
