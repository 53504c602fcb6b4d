"""Rows of fuzz runs beside result files: their tables, and what the page says of them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.cli import report
from touchstone.harness.results import fuzz_rows
from touchstone.harness.spark import inputs

BOTH = {"schema": 1, "run": "r", "target": "reference@4.3", "campaign": "frames", "seed": 1}


def shard(number: int, **more: object) -> dict[str, object]:
    return BOTH | {
        "fuzz": "shard", "shard": number, "shards": 2, "executions": 500, "seconds": 2.0,
        "signatures": 40 + number, "complaints": 3, "died": None,
    } | more  # fmt: skip


def cause(repeats: int) -> dict[str, object]:
    return BOTH | {
        "fuzz": "cause", "oracle": "parses", "key": 3, "behaviour": "trailing", "sentence": "s",
        "members": 3, "steps": 1, "bytes": 27, "runs": 9, "repeats": repeats, "file": "f.toml",
        "api": "Metadata", "decides": repeats == 5,
    }  # fmt: skip


def test_rows_of_fuzz_runs_are_no_results(tmp_path):
    path = tmp_path / "night" / fuzz_rows.NAME
    path.parent.mkdir()
    fuzz_rows.write(path, [shard(0)])
    for argument in (tmp_path, path, tmp_path / "*" / "*.jsonl"):
        assert inputs.find_fuzz([str(argument)]) == [path]
    with pytest.raises(inputs.NotResults):
        inputs.find([str(tmp_path)])
    with pytest.raises(inputs.NotResults):
        inputs.find([str(path)])


def test_rows_of_fuzz_runs_alone_are_reported(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(report.session, "why_not", lambda: None)
    monkeypatch.setattr(
        report, "aggregate", lambda files, *more: given.append((files, more[-1])) or 0
    )
    rows = tmp_path / fuzz_rows.NAME
    fuzz_rows.write(rows, [shard(0), shard(1), cause(5), cause(2)])
    result = CliRunner().invoke(report.command, [str(tmp_path), "--out", str(tmp_path / "out")])
    assert (result.exit_code, given) == (0, [([], [rows])])
    assert result.stdout == "reference@4.3, fuzz frames: 1000 cases, 1 causes\n"
    nothing = CliRunner().invoke(main, ["report", str(tmp_path / "no"), "--out", str(tmp_path)])
    assert nothing.exit_code == 4
