"""Allure results from rows: one JSON file per case. The only door to Allure.

Written by hand and without its packages: the format is a folder of small files, and a run on a bare
machine should leave one too. Differences are "failed" (the product), our mistakes "broken" (the
test), which are Allure's own words for the distinction this house makes. `historyId` is the case on
its target, so Allure's trends follow a case through the runs.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from touchstone.harness.judgement import card, causes
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES
from touchstone.harness.model.case_row import CaseRow, Header

Run = tuple[Header, Sequence[CaseRow]]  # a header and its rows
SEVERITY = {"MUST": "critical", "SHOULD": "normal", "MAY": "minor", "OBSERVED": "minor"}
_STATUS = {CONFORMS: "passed", DIVERGES: "failed", BROKEN: "broken"}
_SPACE = uuid.UUID("9f0c3c2e-6f0b-5d0e-9c1d-7a5d3d1f6a11")


def write(runs: Iterable[Run], folder: Path) -> list[Path]:
    """One `*-result.json` per row, and the environment of the first run."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    environment: dict[str, str] = {}
    for header, rows in runs:
        start = _milliseconds(header["started"])
        of_case = causes.find(rows).of_case
        for row in rows:
            result = _result(header, row, start, of_case.get(row["case"]))
            start = result["stop"]
            path = folder / f"{result['uuid']}-result.json"
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            written.append(path)
        environment |= {
            f"{header['target']}.{name}": str(header[name])
            for name in ("release", "oracle", "oracle_kind", "commit", "seed")
        }
    lines = [f"{_key(name)}={value}\n" for name, value in environment.items()]
    (folder / "environment.properties").write_text("".join(lines), encoding="utf-8")
    return written


def status(row: CaseRow) -> str:
    """passed, failed, broken or skipped. An accepted divergence is skipped, with its pin's id."""
    if row["verdict"] == DIVERGES and row["known"]:
        return "skipped"
    return _STATUS.get(row["verdict"], "skipped")


def _result(header: Header, row: CaseRow, start: int, cause: Cause | None) -> dict[str, Any]:
    identity = f"{row['target']} {row['case']}"
    result: dict[str, Any] = {
        "uuid": str(uuid.uuid5(_SPACE, f"{header['run']} {identity}")),
        "historyId": hashlib.sha256(identity.encode()).hexdigest()[:32],
        "testCaseId": hashlib.sha256(row["case"].encode()).hexdigest()[:32],
        "fullName": f"{row['suite']}.{row['case']}",
        "name": row["case"],
        "description": row["sentence"],
        "status": status(row),
        "stage": "finished",
        "start": start,
        "stop": start + round(row["duration_ms"]),
        "labels": [
            {"name": name, "value": str(value)} for name, value in _labels(row) if value is not None
        ],
        "parameters": [
            {"name": name, "value": str(value)}
            for name, value in [("version", row["version"]), *row["params"].items()]
            if value is not None
        ],
    }
    if result["status"] != "passed":
        head = "" if cause is None else f"[{cause.id}] "
        message = f"known: {row['known']}" if row["known"] else f"{head}{row['reason']}"
        trace = card.lines(card.of_row(row, header, row["transcript"]))
        result["statusDetails"] = {"message": message, "trace": "\n".join(trace)}
    return result


def _labels(row: CaseRow) -> list[tuple[str, Any]]:
    return [
        ("parentSuite", row["target"]),
        ("suite", row["suite"]),
        ("subSuite", row["claim"]),
        ("severity", SEVERITY[row["level"]]),
        ("framework", "touchstone"),
        ("feature", row["api"]),
        *(("tag", word) for word in row["evidence"]),
    ]


def _key(name: str) -> str:
    return name.replace(" ", "_").replace(":", "_").replace("=", "_")


def _milliseconds(started: str) -> int:
    return round(datetime.datetime.fromisoformat(started).timestamp() * 1000)
