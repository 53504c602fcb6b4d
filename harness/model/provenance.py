"""Who gave a recorded answer: which jar, how it was started, when, and under which harness.

A recording without its provenance is hearsay: nobody can tell whether the answer is Apache Kafka's
or that of whatever listened on a port. So only a target whose jar can be hashed is recorded; it
says itself what it runs and how (`provenance(shape)`), and the run adds the day and its commit.

Pure values; recordings keep each distinct one once (harness/model/recordings.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from touchstone.harness.model.target import Shape, Target

SHOWN = 12  # digits of a checksum that a reader is shown


@dataclass(frozen=True, slots=True)
class Provenance:
    """What gave an answer. `asked` are the settings of the shape, `added` those of the harness,
    with DATA and port 0 in the place of what differs from start to start.
    """

    release: str  # "4.3"
    version: str  # "4.3.1"
    jar: str  # the broker's own, "kafka_2.13-4.3.1.jar"
    sha256: str
    java: str  # "17.0.9"
    options: str = ""  # of the Java machine
    brokers: int = 1
    racks: tuple[str, ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    date: str = ""  # "2026-11-22"
    commit: str = ""  # of the harness, with "+" when it had local changes

    @property
    def whole(self) -> bool:
        """Whether it says which jar answered, on which day and which commit of the harness."""
        return all((self.version, self.jar, self.sha256, self.date, self.commit))

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", {}, ())}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Provenance:
        """What this file says of it; names of later harnesses are passed over."""
        known = {one.name for one in fields(cls)} & stored.keys()
        return cls(**{name: stored[name] for name in known} | {
            "racks": tuple(stored.get("racks", ()))
        })  # fmt: skip

    def __str__(self) -> str:
        when = f", recorded on {self.date}" if self.date else ""
        return f"Kafka {self.version} ({self.jar}, sha256 {self.sha256[:SHOWN]}){when}"


class NotRecorded(ValueError):
    """The target cannot be recorded; the message says why."""


def teller(target: Target) -> Callable[[Shape], Provenance]:
    """The target's `provenance`. Raises NotRecorded for one that has none: it is not recorded."""
    found = getattr(target, "provenance", None)
    if found is None:
        raise NotRecorded(
            f"only real Kafka is recorded whose jar can be hashed, {target.name} is not "
            f"(kafka@VERSION is)"
        )
    return found
