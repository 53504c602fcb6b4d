"""A run in shards is the run of one machine: the same cases, the same causes, the same files."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz.campaign import Result
from touchstone.fuzz.corpus_run import NotPrepared
from touchstone.fuzz.detection.planted import target_file
from touchstone.fuzz.scale.driver import (
    Plan,
    chores,
    jobs,
    merged,
    named_anywhere,
    refuse_shared,
    write,
)
from touchstone.fuzz.scale.tasks import Played, play_shard, settle_groups, share_of
from touchstone.fuzz.triage import grouped
from touchstone.harness.model.target import Unavailable
from touchstone.harness.results import fuzz_rows
from touchstone.harness.spark import session
from touchstone.harness.targets import parse

PLANTED = "reference@4.3+crc-not-checked+unknown-version-answered"
SEED, CASES = 1, 800


def plan(out: Path = Path(), target: str = PLANTED, *names: str) -> Plan:
    return Plan(target, names or ("frames", "corpus"), SEED, None, CASES, out)


def played(shards: int, asked: Plan) -> list[Played]:
    return [one for job in jobs(asked, shards) for one in play_shard(job)]


@pytest.mark.parametrize(("cases", "count"), [(10, 3), (0, 2), (1, 4), (7, 1)])
def test_every_case_is_of_one_shard(cases, count):
    assert sum(share_of(cases, (number, count)) for number in range(count)) == cases


@pytest.mark.slow
def test_three_shards_complain_about_what_one_does():
    asked = plan()
    whole, parts = merged(played(1, asked)), merged(played(3, asked))
    assert whole.keys() == parts.keys() == {"frames", "corpus"}
    for name, result in whole.items():
        assert result.findings == parts[name].findings
        assert result.cases == parts[name].cases
        assert result.findings


@pytest.mark.slow
def test_the_groups_are_dealt_out_once_each():
    asked = plan()
    results = merged(played(1, asked))
    dealt = [group for chore in chores(asked, results, 2) for group in chore.groups]
    there = [
        (name, tuple(members))
        for name, result in results.items()
        for members in grouped(result.findings).values()
    ]
    assert sorted(dealt, key=repr) == sorted(there, key=repr)


@pytest.mark.slow
def test_rows_say_what_was_played_and_what_was_found(tmp_path):
    asked = plan(tmp_path, PLANTED, "corpus")
    parts = played(2, asked)
    ones = [one for chore in chores(asked, merged(parts), 2) for one in settle_groups(chore)]
    write(asked, parts, ones, 2)
    text = (tmp_path / "fuzz-rows.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["fuzz"] for row in rows] == ["shard"] + ["cause"] * len(ones)
    assert rows[0]["executions"] == parts[0].result.cases
    for row in rows[1:]:
        assert (tmp_path / row["file"]).exists()
        assert row["repeats"] == 5


@pytest.mark.slow
def test_a_dead_target_is_told_with_its_last_case(monkeypatch):
    def dies(*_, result: Result, **__):
        result.cases = 7
        raise ConnectionRefusedError("gone")

    monkeypatch.setattr("touchstone.fuzz.share.run", dies)
    (one,) = play_shard(jobs(plan(Path(), "reference", "frames"), 1)[0])
    assert one.died == "after case 7: gone"


@pytest.mark.slow
def test_a_target_that_cannot_be_prepared_is_told(monkeypatch):
    def wedged(*_: object) -> None:
        raise NotPrepared("topics were not created")

    monkeypatch.setattr("touchstone.fuzz.scale.tasks.play_frozen", wedged)
    (one,) = play_shard(jobs(plan(Path(), "reference", "corpus"), 1)[0])
    assert one.died == "before the first case: topics were not created"


@pytest.mark.slow
def test_a_campaign_goes_on_at_a_target_that_an_earlier_one_has_harmed(unprepared):
    unprepared(1)
    (one,) = play_shard(jobs(plan(Path(), "reference", "valid"), 1)[0])
    assert (one.died, one.result.cases > 0) == (None, True)


def test_one_target_for_all_shards_has_to_be_meant():
    target = parse("127.0.0.1:9092")
    with pytest.raises(Unavailable, match="--shards-share-target"):
        refuse_shared(target, is_shared=False)
    refuse_shared(target, is_shared=True)
    refuse_shared(parse("reference"), is_shared=False)


def test_a_target_file_is_started_by_each_shard_where_its_ports_are_drawn(tmp_path, monkeypatch):
    path = target_file(tmp_path, ())
    refuse_shared(parse(str(path)), is_shared=False)
    path.write_text(path.read_text().replace('per = "broker"', 'per = "broker"\nport = 9092'))
    with pytest.raises(Unavailable, match="--shards-share-target"):
        refuse_shared(parse(str(path)), is_shared=False)
    monkeypatch.chdir(tmp_path)
    assert named_anywhere(path.name) == str(path), "a worker is in a folder of its own"
    assert [named_anywhere(name) for name in ("kfake", "kafka@4.3")] == ["kfake", "kafka@4.3"]


def test_the_command_refuses_a_shared_target():
    result = CliRunner().invoke(
        fuzz.command, ["--master", "local[2]", "--target", "127.0.0.1:9092"]
    )
    assert (result.exit_code, "--shards-share-target" in result.output) == (3, True)


def test_without_spark_it_says_so(monkeypatch):
    monkeypatch.setattr(session, "why_not", lambda: "no Java")
    result = CliRunner().invoke(fuzz.command, ["--master", "local[2]", "--campaign", "valid"])
    assert (result.exit_code, "no Java" in result.output) == (3, True)


@pytest.mark.parametrize("wrong", [{"fuzz": "other"}, {"fuzz": "shard", "run": "x"}, {}])
def test_a_row_of_another_shape_is_refused(wrong, tmp_path):
    with pytest.raises(ValueError, match="not a row"):
        fuzz_rows.write(tmp_path / "rows", [wrong])


@pytest.mark.spark
@pytest.mark.slow
def test_spark_finds_what_one_process_finds(tmp_path):
    reason = session.why_not()
    if reason:
        pytest.skip(f"not run: {reason}")
    asked = ["--target", PLANTED, "--seed", "1", "--cases", "800", "--campaign", "frames",
             "--campaign", "corpus"]  # fmt: skip
    one, two = tmp_path / "one", tmp_path / "two"
    alone = CliRunner().invoke(fuzz.command, [*asked, "--out", str(one)])
    spread = CliRunner().invoke(
        fuzz.command, [*asked, "--out", str(two), "--master", "local[2]", "--shards", "2"]
    )
    assert (alone.exit_code, spread.exit_code) == (1, 1), spread.output
    names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
    there = sorted(str(path.relative_to(two)) for path in two.rglob("*") if path.is_file())
    assert there == names and fuzz_rows.NAME in names
    names.remove(fuzz_rows.NAME)  # of one shard, and of two
    assert filecmp.cmpfiles(one, two, names, shallow=False)[0] == names
