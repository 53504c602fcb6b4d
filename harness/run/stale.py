"""Recorded answers that nobody asks for any more: of suites that are gone, of claims that changed.

They cost nothing at run time and so would stay for ever; but a reader who counts recordings counts
what no claim stands behind. A recording is stale when no claim has a case of its name on its
release; that its scenario changed is for the run to say, which compares fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.model import advertised, between, recordings
from touchstone.harness.model.advertised import RECORDINGS
from touchstone.harness.model.claim import Claim


@dataclass(frozen=True, slots=True)
class Stale:
    """The recorded cases of one file that have no claim; all of them when the suite is gone."""

    path: Path
    cases: tuple[str, ...]
    whole: bool

    def __str__(self) -> str:
        name = f"{self.path.parent.name}/{self.path.name}"
        if self.whole:
            return f"{name}: no claim of this suite has a case on {self.path.parent.name}"
        return f"{name}: no claim has {', '.join(self.cases)}"


def find(claims: Iterable[Claim], folder: Path = RECORDINGS) -> list[Stale]:
    """What is stale in these recordings, if these are all claims. Raises BadRecording."""
    claims = list(claims)
    found = []
    for release, table in advertised.every().items():
        wanted: dict[str, set[str]] = {}
        for claim in claims:
            cases = wanted.setdefault(claim.suite, set())
            if advertised.is_between(release):
                cases.update(between.names(claim, release, table))
            else:
                cases.update(case.id for case in claim.cases(release, table))
        for path in sorted((folder / release).glob(f"*{recordings.SUFFIX}")):
            known = wanted.get(path.name.removesuffix(recordings.SUFFIX), set())
            extra = sorted(recordings.read(path).keys() - known)
            if extra:
                found.append(Stale(path, tuple(extra), whole=not known))
    return found


def drop(stale: Stale) -> None:
    """Take these cases out of their file; the file too when nothing is left."""
    found = recordings.load(stale.path)
    kept = {case: text for case, text in found.cases.items() if case not in stale.cases}
    if not kept:
        stale.path.unlink()
        return
    suite = stale.path.name.removesuffix(recordings.SUFFIX)
    recordings.write(stale.path, stale.path.parent.name, suite, kept, found.origins, found.written)
