"""What the judge says of a doctored answer beside the recorded one."""

from __future__ import annotations

from touchstone.harness import checkers
from touchstone.harness.judgement import compare, grades, normalize
from touchstone.harness.model.transcript import Transcript

SEEN = "seen"  # a difference that decides where it is asked for
NOTED = "noted"  # a difference on which no client acts, which decides nothing
CHECKED = "checked"  # no difference, but a checker finds it
UNSEEN = "unseen"
RAISED = "raised"  # the judge fell over it, which is a defect of the judge


class Judge:
    """Judges doctored transcripts; what was recorded is normalised once for many of them."""

    def __init__(self) -> None:
        self._oracle: Transcript | None = None
        self._readings: list[normalize.Reading] = []

    def outcome(self, oracle: Transcript, doctored: Transcript) -> tuple[str, str]:
        """(one of the words above, what it says of it)."""
        try:
            if oracle is not self._oracle:
                self._oracle, self._readings = oracle, normalize.normalise(oracle)
            found = compare.differences(self._readings, normalize.normalise(doctored))
            if any(grades.decides(grades.ASKED, one.kind) for one in found):
                return SEEN, ""
            checked = [] if found else checkers.check_all(doctored)
        except Exception as error:
            return RAISED, f"{type(error).__name__}: {error}"
        if found:
            return NOTED, found[0].kind
        if any(grades.decides(grades.ASKED, grades.kind_of_finding(one.checker))
               for one in checked):  # fmt: skip
            return CHECKED, checked[0].checker
        return UNSEEN, ""
