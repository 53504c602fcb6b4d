"""Which cases run which function of the pair, and how long each case takes.

Asked once per tree and release: in forked processes side by side, one case at a time in each, under
a profile hook (`subjects`). A case that does not conform to begin with can tell nothing about a
defect and is left out.

A rejected road: lines in place of functions. Python 3.11 has only `sys.settrace` for it, which
makes the broker forty times slower, and a case that runs a function runs most of its lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.mutation.planting import Place
from touchstone.harness.run.client_judge import ClientJudge
from touchstone.harness.run.judge import Judge

AnyJudge = Judge | ClientJudge
Measured = tuple[str, float, set[Place] | None]  # case, seconds; None: it does not conform


@dataclass
class Reach:
    """What each case of a release runs: `places` by case id, `seconds` that it took."""

    places: dict[str, set[Place]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)  # cases that did not conform

    def written(self) -> str:
        """As JSON, for `read`."""
        places = {id: sorted(found) for id, found in self.places.items()}
        return json.dumps({"places": places, "seconds": self.seconds, "strangers": self.strangers})

    @classmethod
    def read(cls, text: str) -> Reach:
        """Raises ValueError for what is no such text."""
        told = json.loads(text)
        try:
            places = {id: {(at[0], at[1]) for at in found} for id, found in told["places"].items()}
            return cls(places, told["seconds"], told["strangers"])
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"it lacks {error}") from error

    def cases(self, *wanted: Place) -> list[str]:
        """Those that run one of these functions: first those that run most of their modules, the
        quick before the slow, as a case about quotas does more with them than one that any request
        brings there.
        """
        found = [id for id, places in self.places.items() if not places.isdisjoint(wanted)]
        modules = {module for module, _ in wanted}
        return sorted(found, key=lambda id: (-self._of(modules, id), self.seconds[id]))

    def _of(self, modules: set[str], id: str) -> int:
        """How many functions of these modules a case runs."""
        return sum(module in modules for module, _ in self.places[id])


def newest(functions: Iterable[tuple[Claim, Any]], judge: AnyJudge) -> list[tuple[CaseId, Any]]:
    """One case for each claim and set of parameters, in the newest version, with its function."""
    found: dict[tuple[str, str], tuple[CaseId, Any]] = {}
    for claim, function in functions:
        for case in judge.cases(claim):
            found[claim.id, repr(sorted(case.params.items()))] = case, function
    return list(found.values())


class Hook:
    """Notes the code of each function that is called, in every thread that starts from now on."""

    def __init__(self, known: Mapping[CodeType, Place]) -> None:
        self.known, self.seen = known, set[CodeType]()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in self.known:
            self.seen.add(frame.f_code)
