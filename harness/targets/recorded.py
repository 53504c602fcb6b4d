"""`recorded@V`: Kafka's stored answers as a target. Nothing runs, nothing is started.

As a target it is judged like any other (recorded@2.8 against recorded@3.9 shows what changed
between two releases); as an oracle it is what makes conformance possible without Java. Its verb is
not `start` but `transcript`, since there is no socket to send to.
"""

from __future__ import annotations

from touchstone.harness.model import advertised
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Endpoint, Shape, Unavailable, Versions
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.targets import matrix


class RecordedTarget:
    """A Target (see harness/model/target.py) of kind "recorded"."""

    kind = "recorded"

    def __init__(self, version: str) -> None:
        release = matrix.release(version)
        self.name = f"recorded@{release.name}"
        self.release: str | None = release.name
        self.store = Store(release.name)

    def available(self) -> str | None:
        return None if self.store.exists() else f"no recordings of Kafka {self.release}"

    def start(self, shape: Shape) -> Endpoint:
        raise Unavailable(f"{self.name} is a recording: there is nothing to send to")

    def advertised(self) -> Versions:
        return dict(advertised.table(self.store.release))

    def transcript(self, case: CaseId, scenario: Scenario) -> Transcript:
        """What Kafka answered to this scenario. Raises recordings.Missing."""
        return self.store.transcript(case.claim.suite, case.id, scenario.fingerprint())

    def stop(self) -> None:
        return None
