"""The frozen corpus: one file per case, bytes plus one sentence, and what each release did with it.

`corpus/seeds/NAME.toml` holds the bytes as they go over the wire, so the file means the same for
ever, whatever becomes of our codec. `corpus/outcomes/RELEASE.json` holds one signature per case,
recorded on real Kafka of that release; the reference broker's persona of the release must show the
same one, or the case stands in `corpus/differences.toml` with the reason.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.harness.model import bounded

FOLDER = Path(__file__).parent / "corpus"
OUTCOMES = FOLDER / "outcomes"


@dataclass(frozen=True)
class Case:
    """Bytes to write in order, and the topics that must exist first."""

    name: str
    input_class: int
    sentence: str
    key: int
    version: int
    correlation_id: int
    segments: tuple[bytes, ...]
    topics: tuple[str, ...]
    compacted: bool
    probe: bool
    oracle: str | None = None  # a finding names the oracle that complained

    @property
    def wire(self) -> bytes:
        return b"".join(self.segments)


class BadCase(ValueError):
    """A corpus file does not say what a case must say; names the file and the field."""


def load(path: Path) -> Case:
    """Read one case file; raises BadCase naming file and field."""
    try:
        fields = bounded.toml_of(path, bounded.FILE)
        return Case(
            name=path.stem,
            input_class=fields["class"],
            sentence=fields["sentence"],
            key=fields["key"],
            version=fields["version"],
            correlation_id=fields.get("correlation_id", 1),
            segments=tuple(bytes.fromhex(segment) for segment in segments_in(fields)),
            topics=tuple(fields.get("topics", ())),
            compacted=fields.get("compacted", False),
            probe=fields.get("probe", True),
            oracle=fields.get("oracle"),
        )
    except tomllib.TOMLDecodeError as problem:
        raise BadCase(f"{path}: not TOML: {problem}") from problem
    except bounded.TooMuch as problem:
        raise BadCase(f"{path}: {problem}") from problem
    except KeyError as problem:
        raise BadCase(f"{path}: field {problem} is missing") from problem
    except ValueError as problem:
        raise BadCase(f"{path}: segments: {problem}") from problem


def segments_in(fields: dict[str, Any]) -> list[str]:
    """The bytes as hex; a finding (`triage.finding_file`) has them in its steps."""
    steps = fields.get("steps")
    return [step["wire"] for step in steps] if steps else fields["segments"]


def corpus(folder: Path = FOLDER / "seeds") -> list[Case]:
    """Every case, in the order of names (which begin with the input class's number)."""
    return [load(path) for path in sorted(folder.glob("*.toml"))]


def outcomes(release: str) -> dict[str, str]:
    """Signatures by case name recorded on a release ("4.3"); FileNotFoundError where none is."""
    return json.loads((OUTCOMES / f"{release}.json").read_text())


def write_outcomes(release: str, signatures: dict[str, str]) -> Path:
    """Write a release's recorded signatures, whole or not at all."""
    OUTCOMES.mkdir(exist_ok=True)
    path = OUTCOMES / f"{release}.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(signatures, indent=1, sort_keys=True) + "\n")
    fresh.replace(path)
    return path


@dataclass(frozen=True)
class ReviewedDifference:
    """A reviewed difference between the reference broker and Kafka: which cases, where, why."""

    cases: tuple[str, ...]
    releases: tuple[str, ...]
    reason: str


def reviewed_differences(path: Path = FOLDER / "differences.toml") -> list[ReviewedDifference]:
    rows = tomllib.loads(path.read_text()).get("difference", []) if path.exists() else []
    return [ReviewedDifference(tuple(r["cases"]), tuple(r["releases"]), r["reason"]) for r in rows]
