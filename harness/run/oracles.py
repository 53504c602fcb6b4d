"""Who says what is right: a recording of Kafka, a live Kafka, or nobody.

An oracle has a name, a kind that every result row repeats ("recorded" is never called "live"), a
release, and one verb: the transcript of a scenario. Nobody is an oracle too (`--oracle none`): then
only expectations and checkers judge, and the rows say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from touchstone.harness import driver
from touchstone.harness.driver.turns import SHARED_KINDS
from touchstone.harness.model.advertised import HeldAgainst
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.recordings import Missing, Store
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.run import chosen_release
from touchstone.harness.targets import matrix, parse
from touchstone.harness.targets.recorded import RecordedTarget

NOBODY = "none"


class Oracle(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """Live, recorded or none."""

    @property
    def release(self) -> str | None: ...

    def transcript(self, case: CaseId, scenario: Scenario, nonce: str) -> Transcript | None:
        """What Kafka does. None when nobody is asked; raises Missing when it cannot be known."""

    def stop(self) -> None: ...


class Nobody:
    name, kind = NOBODY, "none"

    def __init__(self, release: str | None = None) -> None:
        self.release = release

    def transcript(self, case: CaseId, scenario: Scenario, nonce: str) -> None:
        return None

    def stop(self) -> None:
        return None


class Recorded:
    """Kafka's stored answers of one release."""

    kind = "recorded"

    def __init__(self, store: Store) -> None:
        self.store, self.release = store, store.release
        self.name = f"recorded@{store.release}"

    def transcript(self, case: CaseId, scenario: Scenario, nonce: str) -> Transcript:
        return self.store.transcript(case.claim.suite, case.id, scenario.fingerprint())

    def stop(self) -> None:
        return None


class Live:
    """A running Kafka, asked the same scenario under names of its own.

    `provenance` says who answers a case of a shape: given where answers are kept.
    """

    kind = "live"

    def __init__(
        self, target: Target, release: str | None, deadline_s: float,
        provenance: Callable[[Shape], Provenance] | None = None,
    ) -> None:  # fmt: skip
        self.target, self.release, self.name = target, release, target.name
        self.deadline_s, self.provenance = deadline_s, provenance

    def transcript(self, case: CaseId, scenario: Scenario, nonce: str) -> Transcript:
        try:
            endpoint = self.target.start(scenario.shape)
        except Unavailable as missing:
            raise Missing(f"oracle {self.name}: {missing.reason}") from missing
        except StartFailed as failed:
            raise Missing(f"oracle {self.name} did not start: {failed}") from failed
        found = driver.run(
            scenario, endpoint, nonce=f"{nonce}/oracle", deadline_s=self.deadline_s,
            target=self.name, release=self.release,
        )  # fmt: skip
        if self.provenance is None:
            return found
        return replace(found, header=replace(found.header, origin=self.origin(scenario)))

    def origin(self, scenario: Scenario) -> dict[str, Any] | None:
        """Return who answers a scenario, None where that is not asked for."""
        return None if self.provenance is None else self.provenance(scenario.shape).to_json()

    def stop(self) -> None:
        self.target.stop()


def chosen(
    word: str | None, target: Target, deadline_s: float, wanted: str | None
) -> tuple[Oracle, HeldAgainst]:
    """Return the oracle that a word names, and the release that a target is held against by it;
    without a word the recording of that release. Raise ValueError.
    """
    if word is None or word == NOBODY:
        own = chosen_release.choose(target, wanted)
        return (Recorded(Store(own.release)) if word is None else Nobody(own.release)), own
    other = parse(word)
    other = target if other.name == target.name else other  # one cluster, asked twice
    found = chosen_release.choose(other, wanted if other.kind in SHARED_KINDS else None)
    if wanted is not None and found.release != matrix.release(wanted).name:
        raise ValueError(f"{chosen_release.FLAG} {wanted} and --oracle {word} do not go together")
    if isinstance(other, RecordedTarget):
        oracle: Oracle = Recorded(other.store)
    else:
        oracle = Live(other, found.release, deadline_s)
    return oracle, HeldAgainst(found.release, f"--oracle {word} is of it")
