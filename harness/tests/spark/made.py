"""Result files for tests, each written from a few words: which case came to what on which run."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from touchstone.harness.results import rows

VERDICT = {
    "C": "CONFORMS",
    "U": "UNSUPPORTED",
    "I": "INCONCLUSIVE",
    "D": "DIVERGES",
    "K": "DIVERGES",
    "B": "BROKEN",
}
GRADE = {"api": "CreateTopics", "version": 4, "at": 0}
DIFFERENCE = {
    "step": "create", "path": "topics[0].error_code", "oracle": 37, "target": "37",
    "stands": "claim", "kind": "code", **GRADE,
}  # fmt: skip
FINDING = {
    "checker": "crc", "step": "fetch", "path": "responses[0]", "sentence": "bad CRC",
    "stands": "asked", "kind": "check", **GRADE,
}  # fmt: skip
NOTE = {
    "step": "find", "path": "error_message", "oracle": "NONE", "target": None, "stands": "setup",
    "kind": "prose", "api": "FindCoordinator", "version": 2, "at": 0,
}  # fmt: skip


def case_row(case: str, code: str, target: str, ms: float = 5.0, **changed: object) -> dict:
    """`case` is like "topics.refused[v2]": suite, claim and version are read from it."""
    claim, _, rest = case.partition("[")
    differs = code in "DK"
    row = {
        "row": "case",
        "claim": claim,
        "case": case,
        "suite": claim.split(".")[0],
        "sentence": f"The sentence of {claim}.",
        "where": f"suites.{claim.split('.')[0]}.test_it.test_it",
        "level": "MUST",
        "evidence": ["TOPIC-11"],
        "api": "CreateTopics",
        "version": int(found[1]) if (found := re.match(r"v(\d+)", rest)) else 0,
        "params": {"acks": "-1"},
        "harms": False,
        "verdict": VERDICT[code],
        "connection": "kept",
        "reason": "" if code == "C" else f"because {code} of {case}",
        "failures": [],
        "differences": [DIFFERENCE] if differs else [],
        "findings": [FINDING] if code == "D" else [],
        "notes": [NOTE] if differs else [],
        "known": "K-1" if code == "K" else None,
        "duration_ms": ms,
        "transcript": f"bundles/{case}.jsonl" if differs else None,
        "target": target,
        "release": target.partition("@")[2] or None,
        "signature": code,
        "at_first": None,
    }
    assert set(row) == set(rows.CASE)
    return row | changed


def header(run: str, target: str, planned: int, **changed: object) -> dict:
    made = rows.header(
        run=run,
        started=f"2026-11-{run[-2:]}T01:00:00Z",
        target=target,
        release=target.partition("@")[2] or None,
        kind="reference",
        oracle="recorded@4.3",
        oracle_kind="recorded",
        commit="c0ffee",
        seed=7,
        host={"python": "3.11"},
        planned=planned,
    )
    return made | changed


def result_lines(run: str, target: str, cases: dict[str, str], **changed: object) -> list[dict]:
    """The rows of a whole file. `cases` maps a case to its code."""
    body = [case_row(case, code, target) for case, code in cases.items()]
    counts = Counter(row["verdict"] for row in body)
    last = rows.footer(body, finished="2026-11-21T01:09:00Z", exit_code=int("DIVERGES" in counts))
    return [header(run, target, len(body), **changed), *body, last]


def write(folder: Path, lines: list[dict]) -> Path:
    """One file where the plugin would put it."""
    place = folder / lines[0]["run"] / f"{lines[0]['target']}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return place


def results(folder: Path, run: str, target: str, cases: dict[str, str], **changed: object) -> Path:
    return write(folder, result_lines(run, target, cases, **changed))
