"""The causes of a run as JSON: order and words of the page, all cases, all that lies behind. Pure.

One object for all targets of a run's folder, `causes.json`; `touchstone causes RESULTS --json`
prints the same of any result files. Adding a field is a compatible change; renaming one, or
changing what it means, raises SCHEMA.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from touchstone.harness.judgement import wording
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.judgement.verdict import DIVERGES
from touchstone.harness.results.rows import plain
from touchstone.harness.results.summary import Report

SCHEMA = 1
# What the objects hold, from the outermost.
FILE = {
    "schema": "1; raised when a field is renamed or means something else",
    "targets": "one object for each target, in the order of their files",
}
TARGET = {
    "target": "name of the target",
    "run": "id of the run",
    "release": "release of Kafka that it was held against, or `null`",
    "oracle": "name of the oracle",
    "complete": "whether all cases that were planned were judged",
    "diverge": "how many cases differ from Kafka",
    "light": "how many of them differ only in what no client can tell",
    "causes": "what the others rest on, the gravest first; objects as below",
    "light_causes": "what those rest on, alike",
    "notes": "what decides nothing, alike; those of most cases first",
}
CAUSE = {
    "id": "the same in every run: what pins name",
    "title": "API, versions, field and what of Kafka's it is about",
    "sentence": "what Kafka does, and what the target does",
    "effect": "what that does to whom it hits",
    "hits": "`a client`, `an admin tool`, `other brokers` or `nobody`",
    "kind": "what sort of difference it is, as in result files",
    "apis": "APIs in which it was seen; `null` for bytes of none",
    "versions": "versions in which it was seen",
    "path": "path of the field, list indexes as `[*]`",
    "names": "topics, settings, features and APIs of Kafka's own that it is about",
    "pairs": "pairs of Kafka's value and the target's, the commonest first",
    "cases": "ids of the cases that rest on it",
    "example": "id of the case that is shown, which differs in the first pair",
    "step": "label of the step of the example",
    "unpinned": "how many of its cases no pin explains",
    "known": "ids of the pins that explain the others",
    "also": "other signs of the same defect: objects alike, each with `why`",
    "behind": "what else differs in its cases, as objects of the fields down to `cases`; each may "
    "be a consequence or a defect of its own",
}


def dumps(reports: Sequence[Report]) -> str:
    """Return the causes of these targets as the text of a JSON file."""
    data = {"schema": SCHEMA, "targets": [_target(report) for report in reports]}
    return json.dumps(data, indent=1) + "\n"


def _target(report: Report) -> dict[str, Any]:
    header, found = report.header, report.causes
    return {
        "target": report.target,
        "run": header["run"],
        "release": header.get("release"),
        "oracle": header["oracle"],
        "complete": not report.cut,
        "diverge": sum(row["verdict"] == DIVERGES for row in report.rows),
        "light": sum(len(cause.cases) for cause in found.light),
        "causes": [_cause(cause) for cause in found.grave],
        "light_causes": [_cause(cause) for cause in found.light],
        "notes": [_cause(note) for note in found.notes],
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        **_told(cause),
        "example": cause.example["case"],
        "step": cause.step,
        "unpinned": cause.unpinned,
        "known": list(cause.known),
        "also": [{**_cause(sign), "why": sign.why} for sign in cause.also],
        "behind": [_told(one) for one in cause.behind],
    }


def _told(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": wording.title(cause),
        "sentence": wording.sentence(cause),
        "effect": cause.effect,
        "hits": cause.hits,
        "kind": cause.kind,
        "apis": list(cause.apis),
        "versions": list(cause.versions),
        "path": cause.path,
        "names": list(cause.names),
        "pairs": [[plain(side) for side in pair] for pair in cause.pairs],
        "cases": list(cause.cases),
    }
