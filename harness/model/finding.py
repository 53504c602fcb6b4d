"""What a passive checker has to say: one sentence about one place in a transcript."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.harness.judgement.grades import ASKED, CHECK


@dataclass(frozen=True, slots=True)
class Finding:
    """A property of the protocol that did not hold, seen in step `step` at `path`."""

    checker: str
    step: str
    path: str
    sentence: str
    kind: str = CHECK
    stands: str = ASKED
    api: str | None = None  # of the step, with the version that was asked
    version: int | None = None
    at: int = 0  # the step's place in its scenario

    def __str__(self) -> str:
        return f"{self.checker}: {self.step}: {self.path}: {self.sentence}"
