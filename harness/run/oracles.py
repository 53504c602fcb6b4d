"""Who says what is right: a recording of Kafka, a live Kafka, or nobody.

An oracle has a name, a kind that every result row repeats ("recorded" is never called "live"), a
release, and one verb: the transcript of a scenario. Nobody is an oracle too (`--oracle none`): then
only expectations and checkers judge, and the rows say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from touchstone.harness import driver
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.recordings import Missing, Store
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Shape, StartFailed, Target, Unavailable
from touchstone.harness.model.transcript import Transcript

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
        told = self.provenance(scenario.shape).to_json()
        return replace(found, header=replace(found.header, origin=told))

    def stop(self) -> None:
        self.target.stop()
