"""Golden rows: three nights, three targets, every verdict, every kind of change, a hostile answer,
and a folder whose name Hadoop would read as a pattern."""

from __future__ import annotations

from pathlib import Path

from touchstone.harness.spark import inputs, report
from touchstone.harness.tests.spark import made

PRODUCTS = ("index.html", "summary.json", "summary.md")
ODD = "a b[1]{x}*%20é:1"
EVIL = "</script><script>document.title='owned'</script><!--\u2028"
EXTERNAL = "127.0.0.1:9092"
WAVERED = ("reference@3.9", "produce.acked[v1]")
BUILDS = ("a" * 40, "a" * 40, "b" * 40)

# case -> its code on night 1, 2, 3; "." where it was not in the run
HISTORY = {
    "reference@2.8": {
        "topics.refused[v0]": "CCC",
        "topics.refused[v1]": "CDC",  # flips at an unchanged build, and back
        "topics.accepted[v0]": "CCD",  # regressed by the new build
        "produce.acked[v0]": "DDC",  # fixed
        "produce.acked[v1]": "UUU",
        "fetch.empty[v0]": "C.C",
        "fetch.whole[v0]": "..C",  # new
        "fetch.old[v0]": "CC.",  # vanished
    },
    "reference@3.9": {
        "topics.refused[v0]": "CCD",
        "topics.refused[v1]": "CCC",
        "topics.accepted[v0]": "CCK",
        "produce.acked[v0]": "BBB",
        "produce.acked[v1]": "CCC",
        "fetch.empty[v0]": "III",
    },
    "reference@2.8+forgets": {"topics.refused[v0]": "..D", "topics.accepted[v0]": "..D"},
    "reference@2.8+lies": {"topics.refused[v0]": "..C", "topics.accepted[v0]": "..D"},
    EXTERNAL: {
        "topics.refused[v0]": "..C",
        "topics.refused[v1]": "..C",
        "topics.accepted[v0]": "..D",
    },
}


def golden(folder: Path) -> Path:
    for target, cases in HISTORY.items():
        for night, build in enumerate(BUILDS):
            tonight = {case: codes[night] for case, codes in cases.items() if codes[night] != "."}
            if tonight:
                lines = made.result_lines(f"n-{night + 1:02}", target, tonight, build=build)
                made.write(folder / ODD if target == EXTERNAL else folder, told(hostile(lines)))
    return folder


def told(lines: list[dict]) -> list[dict]:
    """One case conformed only when it was asked again."""
    for line in lines:
        if (line.get("target"), line.get("case")) == WAVERED and lines[0]["run"] == "n-02":
            line["at_first"] = "status 5"
    return lines


def hostile(lines: list[dict]) -> list[dict]:
    """The stranger's difference is an attempt to break out of the page."""
    evil = {"step": EVIL, "path": EVIL, "oracle": {EVIL: 1}, "target": EVIL}
    for line in lines:
        if line.get("target") == EXTERNAL and line.get("differences"):
            line["differences"] = [evil]
    return lines


def written(results: Path, out: Path, **options: object) -> dict:
    files = [inputs.edges(path) for path in inputs.find([str(results)])]
    said: list[str] = []
    return report.write(files, out, say=said.append, **options)
