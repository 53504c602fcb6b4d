"""Which version of Kafka changed an answer: a search over real versions, oldest to newest.

The answer of the oldest version is the old one; whatever differs from it, by the rules by which a
target is held against Kafka, is new. Each step asks the version in the middle. So it is the first
change that is found if answers changed once; where they changed back and forth, one of the changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES, Verdict


@dataclass(frozen=True, slots=True)
class Found:
    """The last version with the old answer, the first with another, and how that one differs.
    `between` are those in between that could not be asked, each with the reason.
    """

    old: str
    new: str
    verdict: Verdict
    between: tuple[tuple[str, str], ...] = ()


class Undecided(LookupError):
    """No change was found; the message says why. `alike`: both ends have the same answer."""

    def __init__(self, message: str, *, alike: bool = False) -> None:
        super().__init__(message)
        self.alike = alike


def first_change(
    versions: Sequence[str], ask: Callable[[str], Verdict], say: Callable[[str, str], None]
) -> Found:
    """Return where the answer changed between the first and the last of two or more versions.
    `ask` holds a version's answer against that of the first; `say` is given each answer in words.
    Raise Undecided if the last one answers as the first, or cannot be asked.
    """
    verdicts: dict[int, Verdict] = {}
    old, new = 0, len(versions) - 1
    at: int | None = new
    while at is not None:
        verdicts[at] = verdict = ask(versions[at])
        say(versions[at], _words(verdict, versions[0]))
        if verdict.kind == CONFORMS and at == new:
            raise Undecided(f"Kafka {versions[at]} answers as {versions[0]} does", alike=True)
        if verdict.kind not in (CONFORMS, DIVERGES) and at == new:
            raise Undecided(f"Kafka {versions[at]} cannot be asked: {verdict.reason}")
        old = at if verdict.kind == CONFORMS else old
        new = at if verdict.kind == DIVERGES else new
        left = (one for one in range(old + 1, new) if one not in verdicts)
        at = min(left, key=lambda one: abs(2 * one - old - new), default=None)
    rest = tuple((versions[one], verdicts[one].reason) for one in range(old + 1, new))
    return Found(versions[old], versions[new], verdicts[new], rest)


def _words(verdict: Verdict, first: str) -> str:
    if verdict.kind == CONFORMS:
        return f"as {first}"
    return "otherwise" if verdict.kind == DIVERGES else f"cannot be asked: {verdict.reason}"
