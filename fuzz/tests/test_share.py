"""A campaign dealt out to processes is the campaign; what guides it is kept and made small."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz import corpus_folder
from touchstone.fuzz.campaign import campaigns
from touchstone.fuzz.generator import harmless, pairs_of
from touchstone.fuzz.jobs import play_jobs
from touchstone.fuzz.share import ONE_AT_A_TIME, TIMES_AS_OFTEN, Share, Where, merged, play
from touchstone.fuzz.world import World
from touchstone.harness.model import advertised

TABLE = advertised.table("4.3")
PAIRS = tuple(harmless(pairs_of({key: advertised.served("4.3", key, TABLE) for key in TABLE})))
HERE = Where(None)


def share(cases: int, **more) -> Share:
    return Share(campaigns()["frames"], PAIRS, HERE, 1, cases, None, **more)


def test_shares_hold_every_case_once():
    parts = [share(10, job=job, jobs=3) for job in range(3)]
    indexes = [case.index for part in parts for case in itertools.islice(cases_of(part), 10)]
    assert sorted(indexes) == list(range(30))


def cases_of(part: Share):
    return part.planned(lambda draw: part.generator(draw, World()))


def test_what_kafka_serves_one_at_a_time_is_dealt_less_often_and_all_of_it():
    dealt = Counter(share(1).dealt)
    for pair in PAIRS:
        assert dealt[pair] == (1 if pair.key in ONE_AT_A_TIME else TIMES_AS_OFTEN), pair
    assert {pair.key for pair in PAIRS} >= ONE_AT_A_TIME


@pytest.mark.slow
def test_what_is_merged_does_not_depend_on_who_was_first():
    parts = [play(share(40, job=job, jobs=2), str) for job in range(2)]
    one, other = merged(parts), merged([*reversed(parts)])
    assert (one.result.cases, one.result.signatures) == (80, other.result.signatures)


@pytest.mark.slow
def test_two_processes_play_what_was_asked():
    played = play_jobs(share(101), 2, str)
    assert (played.result.cases, played.result.signatures.total()) == (101, 101)


@pytest.mark.slow
def test_a_corpus_is_kept_played_again_and_made_small(tmp_path):
    def run(*arguments: str):
        return CliRunner().invoke(
            fuzz.command,
            ["--in-process", "--target", "reference@4.3", "--campaign", "frames",
             "--corpus", str(tmp_path / "corpus"), "--out", str(tmp_path), *arguments],
        )  # fmt: skip

    first = run("--cases", "300")
    assert first.exit_code == 0, first.output
    kept = corpus_folder.load(tmp_path / "corpus")
    again = run("--cases", str(len(kept)), "--seed", "9")
    assert (again.exit_code, " 0 new frames" in again.stderr) == (0, True), again.output
    small = run("--minimise-corpus")
    left = corpus_folder.load(tmp_path / "corpus")
    assert f"{len(kept)} frames before, {len(left)} now" in small.output, small.output
    assert 0 < len(left) < len(kept)


@pytest.mark.parametrize(
    "arguments",
    [["--in-process", "--target", "127.0.0.1:1"], ["--minimise-corpus"]],
    ids=["not the reference broker", "no corpus"],
)
def test_what_makes_no_sense_is_a_usage_error(arguments):
    assert CliRunner().invoke(fuzz.command, arguments).exit_code == 2
