"""A target that dies of a request is started again, the request is found and left out."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import replace

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz import ring, runner
from touchstone.fuzz.campaign import Result, campaigns
from touchstone.fuzz.deaths import MOST, ORACLE, Deaths
from touchstone.fuzz.halving import smallest
from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.ring import Sent
from touchstone.fuzz.runner import Link
from touchstone.fuzz.share import Played, Share, Where
from touchstone.fuzz.target_run import rest_of
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.framing import framed
from touchstone.reference_impl.wire.headers import encode_request

DESCRIBE_CLUSTER, API_VERSIONS, HEARTBEAT = 60, 18, 12
MORTAL = """
import os, signal, sys, time
from touchstone.harness.__main__ import main
from touchstone.reference_impl.broker.broker import Broker
parsed = Broker.parse
def parse(self, connection, frame):
    if frame[:2] == int(os.environ["DIES_OF"]).to_bytes(2, "big"):
        if os.environ.get("HANGS"):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            time.sleep(3600)  # in the loop that serves everybody
        print("farewell,\\n\\x1b[31mworld", file=sys.stderr, flush=True)
        os._exit(3)
    return parsed(self, connection, frame)
Broker.parse = parse
sys.argv[1:] = ["broker", *sys.argv[1:]]
main()
"""
TARGET = """
name = "mortal"
about = "A broker that dies of DescribeCluster"
version = "0.1"

[start]
command = [{python!r}, {program!r}, "--brokers", "{{brokers}}", "{{settings}}"]
per = "cluster"
brokers = "any"

[start.settings]
as = "arguments"
each = ["--config", "{{key}}={{value}}"]

[ready]
output = "^ready (?P<addresses>.*)"
"""


def planned(index: int, key: int) -> Planned:
    wire = framed(encode_request(key, 0, 1, "fuzz", {}))
    return Planned(index, sent_frame(wire), ("none",))


class Mortal(Link):
    """Leads to a broker that never dies; of DescribeCluster it says so."""

    def play(self, segments, **how):
        if segments[0][4:6] == DESCRIBE_CLUSTER.to_bytes(2, "big"):
            raise ConnectionRefusedError("gone")
        return super().play(segments, **how)


@pytest.fixture(scope="module")
def start():
    with serve(brokers=1) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        yield lambda: Mortal(host, int(port))


@pytest.mark.slow
def test_the_case_that_kills_alone_is_the_finding(start):
    deaths = Deaths("valid", 1)
    suspects = [planned(7, API_VERSIONS), planned(8, DESCRIBE_CLUSTER), planned(9, API_VERSIONS)]
    deaths.note(suspects, "refused", start)
    (killer,) = deaths.killers.values()
    assert (killer.oracle, killer.index, deaths.unexplained) == (ORACLE, 8, [])
    assert set(deaths.killers) == {suspects[1].kind}


@pytest.mark.slow
def test_a_killer_among_hundreds_is_found_in_few_starts(start):
    starts, deaths = [], Deaths("valid", 1)
    keys = [API_VERSIONS] * 300
    keys[201] = DESCRIBE_CLUSTER
    suspects = [planned(index, key) for index, key in enumerate(keys)]
    deaths.note(suspects, "refused", lambda: starts.append(1) or start())
    assert [one.index for one in deaths.killers.values()] == [201]
    assert len(starts) <= 12


@pytest.mark.slow
def test_a_death_that_no_case_repeats_is_told(start):
    deaths = Deaths("valid", 1)
    deaths.note([planned(7, API_VERSIONS)], "refused (in flight: 7)", start)
    assert (deaths.killers, [*map(str, deaths.unexplained)]) == ({}, ["refused (in flight: 7)"])


@pytest.mark.slow
def test_of_a_death_that_no_case_repeats_there_is_a_file_of_what_was_sent_last(start, tmp_path):
    deaths = Deaths("valid", 1, folder=tmp_path)
    sent = [Sent(10.0 + number, number, planned(number, API_VERSIONS)) for number in range(3)]
    deaths.note([], "exit code 3, heap space", start, sent)
    ((unexplained,), (path,)) = deaths.unexplained, tmp_path.iterdir()
    assert unexplained.path == path
    first, *rows = map(json.loads, path.read_text().splitlines())
    assert first == {"died": "exit code 3, heap space", "frames": 3}
    assert [(row["seconds_before"], row["connection"], row["case"]) for row in rows] == [
        (2.0, 0, 0), (1.0, 1, 1), (0.0, 2, 2),
    ]  # fmt: skip
    assert [one.sent.wire for one in ring.read(path)] == [one.planned.sent.wire for one in sent]


@pytest.mark.slow
def test_of_a_death_that_is_explained_the_finding_alone_is_kept(start, tmp_path):
    deaths = Deaths("valid", 1, folder=tmp_path)
    killer = planned(8, DESCRIBE_CLUSTER)
    deaths.note([killer], "refused", start, [Sent(1.0, 1, killer)])
    assert deaths.killers and not [*tmp_path.iterdir()]


def test_the_ring_holds_the_last_seconds_of_what_was_sent():
    kept = ring.Ring()
    for second in range(10):
        kept.add(float(second), 1, planned(second, API_VERSIONS))
    assert [one.planned.index for one in kept.last()] == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("needed", "found"), [({5}, [5]), ({2, 7}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), ({99}, [])]
)
def test_the_few_that_something_is_about_are_found_by_halves(needed, found):
    assert list(smallest(range(10), lambda some: needed <= set(some))) == found


def test_a_target_that_dies_again_and_again_is_given_up(start):
    deaths = Deaths("valid", 1)
    for _ in range(MOST):
        assert not deaths.too_many
        deaths.note([], "refused", start)
    assert deaths.too_many


@pytest.mark.parametrize(
    ("cases", "seconds", "left"),
    [(100, None, (60, None)), (None, 10.0, (None, 6.0)), (40, None, None), (None, 4.0, None)],
)
def test_what_is_left_behind_a_death(cases, seconds, left):
    share = Share(campaigns()["valid"], (), Where(None), 1, cases, seconds)
    done = Played(replace(Result("valid"), cases=40), suspects=[planned(47, 0)], seconds=4.0)
    rest = rest_of(share, [done])
    assert (rest and (rest.cases, rest.seconds)) == left
    assert rest is None or rest.begin == 48


@pytest.fixture
def played_on_mortal(tmp_path, monkeypatch):
    """What `touchstone fuzz` came to on a broker that dies of an API."""

    def play(dies_of: int, *arguments: str):
        program, target = tmp_path / "mortal.py", tmp_path / "mortal.toml"
        program.write_text(MORTAL)
        target.write_text(TARGET.format(python=sys.executable, program=str(program)))
        monkeypatch.setenv("DIES_OF", str(dies_of))
        asked = ["--target", str(target), "--out", str(tmp_path / "out"), *arguments]
        return CliRunner().invoke(fuzz.command, asked)

    return play


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_campaign_goes_on_behind_the_death_of_its_target(played_on_mortal, tmp_path, jobs):
    result = played_on_mortal(
        DESCRIBE_CLUSTER, "--campaign", "valid", "--cases", "600", "--jobs", jobs
    )
    assert result.exit_code == 1, result.output
    assert "dies of key 60 (no fault)" in result.output
    assert "is not answered: ConnectionRefused" not in result.output  # so watches say of a dead one
    path = next((tmp_path / "out" / "valid").glob("*-stays-alive-key-60.toml"))
    words = r"exit code 3, .*farewell, \\x1b\[31mworld"
    assert re.search(words, result.output) and "\x1b" not in result.output
    assert re.search(words, tomllib.loads(path.read_text())["sentence"])
    again = played_on_mortal(DESCRIBE_CLUSTER, "--replay", str(path))
    assert (again.exit_code, bool(re.search(words, again.output))) == (1, True), again.output
    mended = played_on_mortal(999, "--replay", str(path))
    assert mended.exit_code == 0, mended.output


@pytest.mark.slow
def test_a_campaign_of_scripts_goes_on_behind_the_death_of_its_target(played_on_mortal, tmp_path):
    result = played_on_mortal(HEARTBEAT, "--campaign", "groups", "--cases", "2")
    assert result.exit_code == 1, result.output
    assert "groups: 2 cases" in result.output
    (path,) = (tmp_path / "out" / "groups").glob("*-stays-alive-key-*.toml")
    text = path.read_text()
    assert "Heartbeat" in text and "exit code 3, " in text
    assert played_on_mortal(HEARTBEAT, "--replay", str(path)).exit_code == 1
    assert played_on_mortal(999, "--replay", str(path)).exit_code == 0


@pytest.mark.slow
def test_a_target_that_answers_nobody_is_as_good_as_dead(played_on_mortal, tmp_path, monkeypatch):
    monkeypatch.setenv("HANGS", "1")
    monkeypatch.setattr(runner, "HANGS_S", 2.0)
    result = played_on_mortal(DESCRIBE_CLUSTER, "--campaign", "valid", "--cases", "600")
    assert result.exit_code == 1, result.output
    assert "it answers nobody for 2 s" in result.output
    assert "dies of key 60 (no fault)" in result.output
    assert not [*(tmp_path / "out" / "valid").rglob("*answers-in-time*")], result.output
