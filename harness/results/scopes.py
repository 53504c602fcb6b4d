"""Whether runs that stand side by side were asked the same: what differs between them. Pure.

A target that was asked half the cases looks twice as good, so what two columns do not share is
said in words before their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from touchstone.harness.results.summary import JUDGED, Report

# What runs may differ in: its name, and how one run answers it.
ASKED: dict[str, Callable[[Report], str]] = {
    "release": lambda report: f"Kafka {report.header['release'] or 'of an unknown release'}",
    "oracle": lambda report: str(report.header["oracle"]),
    "profiles": lambda report: ", ".join(report.header.get("profiles") or ()) or "none named",
    "settings": lambda report: {
        True: "as each claim wants them", False: "the target's own", None: "not known",
    }[report.header.get("configured")],
    "deselected": lambda report: f"{report.header.get('deselected') or 0:,} cases",
    "suites": lambda report: suites(report),
    "cases": lambda report: f"{len(report.rows):,} of {report.header['planned']:,} planned",
    "judged": lambda report: f"{judged(report):,} cases",
    "notes": lambda report: "decide too" if "--strict-notes" in arguments(report) else "do not",
    "judged by": lambda report: f"Touchstone {report.header.get('commit') or 'not known'}",
}  # fmt: skip


def differences(reports: Sequence[Report]) -> Iterator[tuple[str, list[str]]]:
    """What the reports were not asked alike, with each one's answer; nothing where all is alike."""
    for name, answer in ASKED.items():
        answers = [answer(report) for report in reports]
        if len(set(answers)) > 1:
            yield name, answers
    shared = [{row["case"] for row in report.rows} for report in reports]
    common = set.intersection(*shared) if shared else set()
    if any(len(cases) > len(common) for cases in shared):
        yield "cases of its own", [f"{len(cases - common):,}" for cases in shared]


def suites(report: Report) -> str:
    names = sorted({row["suite"] for row in report.rows})
    every = report.header.get("suites")
    count = f"{len(names)} of {every}" if every else f"{len(names)}"
    return f"{count}: {', '.join(names)}" if len(names) <= 3 else count


def judged(report: Report) -> int:
    return sum(row["verdict"] in JUDGED for row in report.rows)


def arguments(report: Report) -> Sequence[str]:
    return report.header.get("arguments") or ()
