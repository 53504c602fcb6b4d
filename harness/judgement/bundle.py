"""A failure as one small file: question, both answers, what was expected, where they part.

A bundle is complete: it is judged again without a broker (`touchstone judge`), sent again outside
pytest (`touchstone replay`), and read side by side (`touchstone diff`). It is JSON, so it can be
mailed; raw bytes stand in it as hex, and every decoded view is made from them when it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.harness.judgement import client_verdict, ending, snippet
from touchstone.harness.judgement.verdict import Verdict, judge
from touchstone.harness.model import bounded, expect, transcript
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.expect import Expectation
from touchstone.harness.model.recordings import slim
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.target import Death
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results.rows import plain
from touchstone.harness.writable import write_whole

SCHEMA = 1


class BadBundle(ValueError):
    """A file is no bundle; the message names it and says why."""


@dataclass(frozen=True)
class Bundle:
    """One case with everything needed to judge it again."""

    case: str
    claim: str
    sentence: str
    evidence: tuple[str, ...]
    release: str | None
    verdict: Mapping[str, Any]
    scenario: Scenario
    expectation: Expectation | None
    target: Transcript
    oracle: Transcript | None
    api: str | None = None  # the claim's, with the case's version: what was asked
    version: int | None = None
    strict: bool = False
    again: str = ""  # the command that runs the case again
    death: Death | None = None  # of the target, where it died of the case
    subject: tuple[str, ...] = ()  # settings that the claim is about
    capabilities: tuple[str, ...] = ()  # that it needs of a target
    like: str | None = None  # the release that the case is written for, where that is another

    def judge(self) -> Verdict:
        """The verdict of today's checkers, normaliser and schemas on what was seen then."""
        if self.scenario.is_of_client:
            return client_verdict.judge(self.expectation, self.target, self.release)
        verdict = judge(
            self.expectation, self.target, self.oracle, release=self.like or self.release,
            watch_oracle=True,
            api=self.api, version=self.version, strict=self.strict,
        )  # fmt: skip
        if self.death is None:
            return verdict
        return ending.ended(verdict, self.target, self.oracle, self.death)


def of(
    case: CaseId, judgement: Judgement, release: str | None, *, strict: bool = False,
    again: str = "",
) -> Bundle | None:  # fmt: skip
    """The bundle of a judged case; None when its scenario never ran on the target."""
    if judgement.scenario is None or judgement.target is None:
        return None
    verdict = judgement.verdict
    return Bundle(
        case=case.id,
        claim=case.claim.id,
        sentence=case.claim.sentence,
        evidence=case.claim.evidence,
        release=release,
        verdict=verdict_json(verdict),
        scenario=judgement.scenario,
        expectation=judgement.expectation,
        target=judgement.target,
        oracle=judgement.oracle,
        api=case.claim.api,
        version=case.version,
        strict=strict,
        again=again,
        death=judgement.death,
        subject=case.claim.subject,
        capabilities=case.claim.capabilities,
        like=case.like,
    )


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """What a bundle says of the verdict; the rest follows from its transcripts."""
    named = ("kind", "connection", "reason", "signature", "stack")
    return {name: getattr(verdict, name) for name in named}


def file_name(case: str) -> str:
    """A case id as a file's name, on any file system."""
    return re.sub(r"[^A-Za-z0-9.+=-]+", "_", case).strip("_")[:180] + ".bundle.json"


def write(bundle: Bundle, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(bundle.case)
    write_whole(path, dumps(bundle))
    return path


def dumps(bundle: Bundle) -> str:
    verdict = bundle.judge()
    first = next(iter(verdict.differences), None)
    data = {
        "bundle": SCHEMA,
        "case": bundle.case,
        "claim": bundle.claim,
        "sentence": bundle.sentence,
        "evidence": list(bundle.evidence),
        "release": bundle.release,
        **({"like": bundle.like} if bundle.like else {}),
        "api": bundle.api,
        "version": bundle.version,
        "strict": bundle.strict,
        "again": bundle.again,
        "subject": list(bundle.subject),
        "capabilities": list(bundle.capabilities),
        "verdict": dict(bundle.verdict),
        "death": None if bundle.death is None else asdict(bundle.death),
        "first_difference": None if first is None else plain(vars_of(first)),
        "client": snippet.of_case(bundle.target, verdict).splitlines(),
        "expectation": expect.to_json(bundle.expectation),
        "scenario": bundle.scenario.to_json(),
        "target": _lines(bundle.target),
        "oracle": None if bundle.oracle is None else _lines(bundle.oracle),
    }
    return json.dumps(data, indent=1) + "\n"


def vars_of(difference: Any) -> dict[str, Any]:
    return {name: getattr(difference, name) for name in ("step", "path", "oracle", "target")}


def _lines(one: Transcript) -> list[Any]:
    """A transcript without its scenario, which the bundle has once."""
    return [json.loads(line) for line in transcript.dumps(slim(one)).splitlines()]


def read(path: Path) -> Bundle:
    """The inverse of `write`. Raises BadBundle."""
    try:
        data = bounded.json_of(bounded.text(path))
    except (OSError, ValueError) as error:
        raise BadBundle(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("bundle") != SCHEMA:
        raise BadBundle(f"{path}: not a bundle of schema {SCHEMA}")
    try:
        scenario = data["scenario"]
        return Bundle(
            case=data["case"],
            claim=data["claim"],
            sentence=data["sentence"],
            evidence=tuple(data["evidence"]),
            release=data["release"],
            verdict=data["verdict"],
            scenario=Scenario.from_json(scenario),
            expectation=expect.from_json(data["expectation"]),
            target=_transcript(data["target"], scenario, f"{path}: target"),
            oracle=data["oracle"] and _transcript(data["oracle"], scenario, f"{path}: oracle"),
            api=data.get("api"),
            version=data.get("version"),
            like=data.get("like"),
            # In bundles of before there were grades everything decided.
            strict=data.get("strict", "api" not in data),
            again=data.get("again", ""),
            death=Death(**data["death"]) if data.get("death") else None,
            subject=tuple(data.get("subject", ())),
            capabilities=tuple(data.get("capabilities", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadBundle(f"{path}: {type(error).__name__}: {error}") from error


def _transcript(lines: list[Any], scenario: Mapping[str, Any], source: str) -> Transcript:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    found = transcript.loads(text, source=source)
    return replace(found, header=replace(found.header, scenario=scenario))
