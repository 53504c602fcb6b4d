"""Each recorded answer says who gave it, once per file; what nobody can hash is not recorded."""

from __future__ import annotations

import dataclasses
import json
import lzma

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.cli import diff, record
from touchstone.harness.model import recordings
from touchstone.harness.model.advertised import RECORDINGS
from touchstone.harness.model.provenance import Provenance, teller
from touchstone.harness.model.recordings import (
    SUFFIX,
    BadRecording,
    Store,
    load,
    without_provenance,
)
from touchstone.harness.model.target import Shape
from touchstone.harness.model.transcript import dumps
from touchstone.harness.run import stale
from touchstone.harness.targets import matrix, parse, settings
from touchstone.harness.tests.doctor import golden

JAR = Provenance(
    "2.8", "2.8.2", "kafka_2.13-2.8.2.jar", "5e" * 32, "17.0.9", brokers=3, racks=("a", "b", "c"),
    asked={"group.max.size": "8"},
)  # fmt: skip
SEEN = golden("2.8")
MADE = {"date": "2026-11-22", "commit": "82c16d6fd861"}


def answered(origin):
    """A transcript that says who answered."""
    return dataclasses.replace(
        SEEN, header=dataclasses.replace(SEEN.header, origin=origin and origin.to_json())
    )


@pytest.fixture
def store(tmp_path):
    made = Store("2.8", tmp_path)
    told = {"a[v1]": answered(JAR), "b[v1]": answered(JAR), "old[v1]": answered(None)}
    made.update("topics", told, made=MADE)
    return Store("2.8", tmp_path)


def test_provenance_survives_json_and_forgets_what_later_harnesses_add():
    told = json.loads(json.dumps(JAR.to_json())) | {"weather": "rain"}
    assert Provenance.from_json(told) == JAR and "options" not in told


def test_who_answered_comes_back_with_the_day_and_the_commit(store):
    found = store.origin("topics", "a[v1]")
    assert found == dataclasses.replace(JAR, **MADE)
    header = store.transcript("topics", "a[v1]").header
    assert (header.kind, header.origin) == ("recorded", found.to_json())


def test_old_cases_load_and_say_nothing(store):
    header = store.transcript("topics", "old[v1]").header
    assert (header.kind, header.origin) == ("recorded", None)
    assert store.origin("topics", "old[v1]") is None


def test_each_provenance_stands_once_in_a_file(store):
    text = lzma.decompress(store.path("topics").read_bytes()).decode()
    assert text.count(JAR.sha256) == 1 and json.loads(text.splitlines()[0])["provenance"]


def test_a_case_recorded_without_it_loses_what_an_older_answer_had(store):
    store.update("topics", {"a[v1]": answered(None)})
    assert load(store.path("topics")).origins.keys() == {"b[v1]"}


def test_dropping_a_stale_case_keeps_who_answered_the_others(store):
    stale.drop(stale.Stale(store.path("topics"), ("a[v1]",), whole=False))
    found = load(store.path("topics"))
    assert found.cases.keys() == {"b[v1]", "old[v1]"} and found.origins.keys() == {"b[v1]"}


@pytest.mark.parametrize("head", [{"provenance": [{"release": "2.8"}]}, {}])
def test_a_file_whose_provenance_is_not_whole_is_refused(store, head):
    path = store.path("topics")
    lines = lzma.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    row = {name: value for name, value in json.loads(lines[0]).items() if name != "provenance"}
    path.write_bytes(lzma.compress("".join([json.dumps(row | head) + "\n", *lines[1:]]).encode()))
    with pytest.raises(BadRecording, match="provenance|nobody is number"):
        load(path)


def test_two_who_record_one_suite_lose_nothing(tmp_path):
    """Each has read the file before the other wrote it."""
    one, other = Store("2.8", tmp_path), Store("2.8", tmp_path)
    assert not one.cases("topics") and not other.cases("topics")
    one.update("topics", {"a[v1]": answered(JAR)})
    other.update("topics", {"b[v1]": answered(JAR)})
    assert load(one.path("topics")).cases.keys() == {"a[v1]", "b[v1]"}


@pytest.mark.parametrize(
    "word", ["127.0.0.1:9092", "reference@2.8", "recorded@2.8", "docker@2.8", "kafka-2.8"]
)
def test_what_nobody_can_hash_is_not_recorded(word):
    with pytest.raises(ValueError, match="only real Kafka is recorded whose jar can be hashed"):
        teller(parse(word))
    done = CliRunner().invoke(main, ["record", "--target", word])
    assert done.exit_code == 3 and "whose jar can be hashed" in done.output


@pytest.mark.parametrize("release", [one.name for one in matrix.releases()])
def test_what_the_harness_adds_is_the_same_at_every_start(release):
    shape = Shape(3, ("a", "b", "c"), {"num.partitions": 6, "group.initial.rebalance.delay.ms": 9})
    added = settings.added(matrix.release(release), shape)
    assert added["log.dirs"] == "DATA" and added["listeners"].endswith(":0")
    assert added["offsets.topic.replication.factor"] == "3" and added["broker.rack"] == "a"
    assert not added.keys() & shape.settings.keys()


def test_cases_without_provenance_are_counted(store, monkeypatch):
    assert without_provenance(store.folder.parent) == {"2.8": (3, 1)}
    monkeypatch.setattr(recordings.without_provenance, "__defaults__", (store.folder.parent,))
    done = CliRunner().invoke(record.command, ["--check"])
    assert (done.exit_code, done.output) == (1, "2.8: 3 cases, 1 without provenance\n")


@pytest.mark.parametrize("lacks", ["date", "commit"])
def test_a_provenance_without_day_or_commit_counts_as_none(tmp_path, lacks):
    told = dataclasses.replace(JAR, **MADE | {lacks: ""})
    Store("2.8", tmp_path).update("topics", {"a[v1]": answered(told)})
    assert without_provenance(tmp_path) == {"2.8": (1, 1)}


@pytest.mark.slow
def test_every_recorded_case_says_who_answered():
    """`touchstone record --target kafka@RELEASE` records a case again with its provenance."""
    lacking = set()
    for path in sorted(RECORDINGS.glob(f"*/*{SUFFIX}")):
        found = load(path)
        known = {case for case, origin in found.origins.items() if origin.whole}
        if found.cases.keys() - known:
            lacking.add(f"{path.parent.name}/{path.name.removesuffix(SUFFIX)}")
    assert not lacking


def test_the_diff_says_recorded_and_which_jar(store, tmp_path):
    paths = []
    for case in ("a[v1]", "old[v1]"):
        paths.append(tmp_path / f"{len(paths)}.jsonl")
        paths[-1].write_text(dumps(store.transcript("topics", case)))
    lines = CliRunner().invoke(diff.command, [str(path) for path in paths]).output.splitlines()
    assert lines[0].startswith(
        "oracle Kafka 2.8.2 (kafka_2.13-2.8.2.jar, sha256 5e5e5e5e5e5e), recorded on 2026-11-22"
    )
    assert "recorded" in lines[1] and "live" not in lines[1]
