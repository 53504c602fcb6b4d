"""Small runs for tests of what people are shown: rows with causes, known ones, notes."""

from __future__ import annotations

from touchstone.harness.tests.spark.made import NOTE, case_row, header

TARGET = "kfake@0.1"


def difference(path="topics[0].error_code", oracle=37, target=0, **how):
    return {"step": "create", "path": path, "oracle": oracle, "target": target, "stands": "claim",
            "kind": "code", "api": "CreateTopics", "version": 4, "at": 2} | how  # fmt: skip


def failing(case, *differences, target=TARGET, **how):
    row = case_row(case, "D", target)
    found = {"findings": [], "notes": [], "differences": [*differences], "transcript": None}
    return row | found | how


def rows(target=TARGET):
    """Two cases of one cause, one of another, one that is pinned, one note, one not run."""
    closed = difference("connection", "answered", "closed", kind="connection", version=5)
    return [
        case_row("topics.fine[v4]", "C", target, notes=[NOTE]),
        failing("topics.zero[v4]", difference(), target=target),
        failing("topics.zero[v5]", difference(version=5), target=target),
        failing("fetch.far[v5]", closed, target=target),
        failing("fetch.old[v5]", difference("x", 1, 2, kind="value"), target=target, known="k-1"),
        case_row("fetch.harm[v4]", "I", target, reason="not run: no capability 'harm'"),
    ]


def head(target=TARGET, **how):
    found = header("run-21", target, 6, arguments=["--target", "kfake.toml"], suites=19)
    return found | how
