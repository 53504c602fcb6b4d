"""What came of a script, as a value: it can be judged again, compared and stored."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.fuzz.outcome import Outcome
from touchstone.fuzz.script import Script
from touchstone.reference_impl.wire.schema import Struct


@dataclass(frozen=True)
class Played:
    """An outcome for each step, the frames as they went out, the decoded answers by number of step
    (those that parse), the steps that were answered although they had to wait (`early`), and those
    with a fault that were kept waiting (`held`).
    """

    script: Script
    sent: tuple[bytes, ...]
    outcomes: tuple[Outcome, ...]
    answers: dict[int, Struct]
    early: frozenset[int]
    held: frozenset[int] = frozenset()
