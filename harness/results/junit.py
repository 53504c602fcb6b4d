"""JUnit XML from rows: what a CI server understands.

A difference is a <failure>, our own mistake an <error>, what was not judged <skipped>; h2spec files
every failed case as an error, because nobody tested its writer against a run that fails. One suite
per target and suite; totals are counted from the rows, not from the tree. A failing case's message
begins with the id of its cause, and each suite lists its causes, so that a server which shows
nothing but messages still groups a hundred failures into what they are.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from touchstone.harness import shown
from touchstone.harness.judgement import card, causes, wording
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.judgement.verdict import BROKEN, DIVERGES
from touchstone.harness.model.case_row import CaseRow, Header

Run = tuple[Header, Sequence[CaseRow]]  # a header and its rows
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(runs: Iterable[Run], path: Path) -> None:
    path.write_bytes(dumps(runs))


def dumps(runs: Iterable[Run]) -> bytes:
    root = ET.Element("testsuites", name="touchstone")
    counted = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for header, rows in runs:
        of_case = causes.find(rows).of_case
        for suite in sorted({row["suite"] for row in rows}):
            mine = [row for row in rows if row["suite"] == suite]
            numbers = _suite(root, header, suite, mine, of_case)
            counted = {name: counted[name] + numbers[name] for name in counted}
    for name, number in counted.items():
        root.set(name, str(number))
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def kind_of(row: CaseRow) -> str | None:
    """Which element a row becomes: failure, error, skipped, or None for a case that passed."""
    if row["verdict"] == BROKEN:
        return "error"
    if row["verdict"] == DIVERGES:
        return "skipped" if row["known"] else "failure"
    return None if row["verdict"] == "CONFORMS" else "skipped"


def _suite(
    root: ET.Element, header: Header, suite: str, rows: Sequence[CaseRow],
    of_case: Mapping[str, Cause],
) -> dict[str, int]:  # fmt: skip
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
        attrib={name: str(number) for name, number in numbers.items()},
    )
    properties = ET.SubElement(element, "properties")
    for name in ("run", "target", "release", "kind", "oracle", "oracle_kind", "commit", "seed"):
        ET.SubElement(properties, "property", name=name, value=_clean(str(header[name])))
    told = _told(rows, of_case)
    for cause, count in told:
        value = f"{wording.counted(count, 'case')}: {_sentence(cause)}"
        ET.SubElement(properties, "property", name=f"cause {_clean(cause.id)}", value=_clean(value))
    for row, kind in zip(rows, kinds, strict=True):
        _case(element, row, kind, of_case.get(row["case"]), header)
    if told:
        lines = [f"{_sentence(cause)} ({wording.counted(count, 'case')})" for cause, count in told]
        ET.SubElement(element, "system-out").text = _clean("\n".join(lines))
    return numbers


def _told(rows: Sequence[CaseRow], of_case: Mapping[str, Cause]) -> list[tuple[Cause, int]]:
    """The causes of a suite's cases, and how many of its cases rest on each; most first."""
    counted = Counter(of_case[row["case"]].id for row in rows if row["case"] in of_case)
    by_id = {cause.id: cause for cause in of_case.values()}
    return [(by_id[id], count) for id, count in counted.most_common()]


def _sentence(cause: Cause) -> str:
    return f"{wording.title(cause)}: {wording.sentence(cause)}"


def _case(
    suite: ET.Element, row: CaseRow, kind: str | None, cause: Cause | None,
    header: Header,
) -> None:  # fmt: skip
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
        head = "" if cause is None else f"[{cause.id}] {_sentence(cause)}: "
        message = _clean(f"{head}{row['reason']}")
        element = ET.SubElement(case, kind, type=row["verdict"], message=message)
        told = card.lines(card.of_row(row, header, row["transcript"]))
        element.text = _clean("\n".join(told))


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _clean(text: str) -> str:
    """Without characters that move a cursor, or that XML 1.0 cannot hold."""
    return _FORBIDDEN.sub("\ufffd", shown.block(text))
