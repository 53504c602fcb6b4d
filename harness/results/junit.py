"""JUnit XML from rows: what a CI server understands.

A difference is a <failure>, our own mistake an <error>, what was not judged <skipped>; h2spec files
every failed case as an error, because nobody tested its writer against a run that fails. One suite
per target and suite; totals are counted from the rows, not from the tree.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.results.rows import summarise
from harness.verdict import BROKEN, DIVERGES

Run = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]  # a header and its rows
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(runs: Iterable[Run], path: Path) -> None:
    path.write_bytes(dumps(runs))


def dumps(runs: Iterable[Run]) -> bytes:
    root = ET.Element("testsuites", name="touchstone")
    counted = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for header, rows in runs:
        for suite in sorted({row["suite"] for row in rows}):
            mine = [row for row in rows if row["suite"] == suite]
            numbers = _suite(root, header, suite, mine)
            counted = {name: counted[name] + numbers[name] for name in counted}
    for name, number in counted.items():
        root.set(name, str(number))
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def kind_of(row: Mapping[str, Any]) -> str | None:
    """Which element a row becomes: failure, error, skipped, or None for a case that passed."""
    if row["verdict"] == BROKEN:
        return "error"
    if row["verdict"] == DIVERGES:
        return "skipped" if row["known"] else "failure"
    return None if row["verdict"] == "CONFORMS" else "skipped"


def _suite(
    root: ET.Element, header: Mapping[str, Any], suite: str, rows: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    kinds = [kind_of(row) for row in rows]
    numbers = {
        "tests": len(rows),
        "failures": kinds.count("failure"),
        "errors": kinds.count("error"),
        "skipped": kinds.count("skipped"),
    }
    element = ET.SubElement(
        root,
        "testsuite",
        name=_clean(f"{header['target']} {suite}"),
        timestamp=header["started"][:19],
        hostname=_clean(header["target"]),
        time=_seconds(sum(row["duration_ms"] for row in rows)),
        **{name: str(number) for name, number in numbers.items()},
    )
    properties = ET.SubElement(element, "properties")
    for name in ("run", "target", "release", "kind", "oracle", "oracle_kind", "commit", "seed"):
        ET.SubElement(properties, "property", name=name, value=_clean(str(header[name])))
    for row, kind in zip(rows, kinds, strict=True):
        _case(element, row, kind)
    return numbers


def _case(suite: ET.Element, row: Mapping[str, Any], kind: str | None) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(f"{row['target']}.{row['suite']}"),
        name=_clean(row["case"]),
        time=_seconds(row["duration_ms"]),
    )
    if kind == "skipped":
        word = f"known: {row['known']}" if row["known"] else f"{row['verdict']}: {row['reason']}"
        ET.SubElement(case, "skipped", message=_clean(word))
    elif kind is not None:
        message = _clean(row["reason"])
        element = ET.SubElement(case, kind, type=row["verdict"], message=message)
        element.text = _clean(f"{row['sentence']}\n{summarise(row)}")


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _clean(text: str) -> str:
    """Without characters that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
