"""Which release a target is held against, and that its reader is told why."""

from __future__ import annotations

import pytest

from touchstone.harness.cli import holding
from touchstone.harness.model import advertised
from touchstone.harness.model.target import StartFailed
from touchstone.harness.run import chosen_release, client_judge
from touchstone.harness.run.judge import judge_for
from touchstone.harness.targets import matrix, parse
from touchstone.harness.tests.small_kafka import API_VERSIONS, small_kafka, word

SOME, LISTED = 41, len(advertised.table("3.9"))


def half(key, version, answer):
    """Advertises 41 ranges of its release, as a broker does that lacks the others."""
    return answer | {"api_keys": answer["api_keys"][:SOME]} if key == API_VERSIONS else answer


def test_whoever_advertises_a_release_is_held_against_it():
    with small_kafka("3.9") as server:
        found = chosen_release.choose(parse(word(server)))
    assert found.release == "3.9"
    assert found.reason.startswith(f"its ApiVersions fit 3.9 ({LISTED} of {LISTED} ranges); 4.3")


def test_a_stranger_is_held_against_the_nearest_release():
    with small_kafka("3.9", half) as server:
        found = chosen_release.choose(parse(word(server)))
    assert found.release == "3.9"
    assert f"are nearest to 3.9 ({SOME} of {SOME} ranges); " in found.reason


def test_a_user_may_name_another_release():
    with small_kafka("3.9") as server:
        judge = judge_for(word(server), nonce="n", release="2.8.2")
    assert (judge.release, judge.oracle.name) == ("2.8", "recorded@2.8")
    assert judge.release_reason.startswith("--release says so; ")
    assert f" of {LISTED} ranges of its ApiVersions are as there" in judge.release_reason


def test_a_broker_of_a_client_is_held_against_what_its_user_names():
    with small_kafka("3.9", half) as server:
        judge = client_judge.judge_for("touchstone", word(server), nonce="n", deadline_s=1.0)
        named = client_judge.judge_for(
            "touchstone", word(server), nonce="n", deadline_s=1.0, release="2.8"
        )
    assert judge.release == "3.9" and "are nearest to 3.9" in judge.release_reason
    assert named.release == "2.8" and named.release_reason.startswith("--release says so; ")


def test_what_is_fuzzed_is_compared_with_a_release_or_with_none(capsys):
    with small_kafka("3.9") as server, small_kafka("3.9", half) as stranger:
        known, other, named = parse(word(server)), parse(word(stranger)), parse(word(stranger))
        holding.choose_if_known(known, None)
        holding.choose_if_known(other, None)
        holding.choose_if_known(named, "2.8")
    assert [one.release for one in (known, other, named)] == ["3.9", None, "2.8"]
    first, second, third = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{known.name} is held against Kafka 3.9: its ApiVersions fit 3.9 (")
    assert second.startswith(f"{other.name} is compared with no Kafka, unless --release names one")
    assert third.startswith(f"{named.name} is held against Kafka 2.8: --release says so; ")


@pytest.mark.parametrize(("asked", "release"), [((), "3.9"), (("2.8",), "2.8")])
def test_an_oracle_of_the_fuzzer_is_held_against_a_release(asked, release, capsys):
    with small_kafka("3.9", half) as stranger:
        oracle = parse(word(stranger))
        found = holding.choose(oracle, *(asked or (None,)))
    assert found.release == oracle.release == release
    assert f"is held against Kafka {release}: " in capsys.readouterr().err


def test_who_does_not_answer_is_held_against_the_newest():
    found = chosen_release.choose(parse("127.0.0.1:1"))
    assert found.release == matrix.release("latest").name
    assert found.reason == "it does not answer ApiVersions, and this is the newest"


def test_an_oracle_that_is_a_release_decides():
    judge = judge_for("127.0.0.1:1", "recorded@3.9", nonce="n")
    assert (judge.release, judge.release_reason) == ("3.9", "--oracle recorded@3.9 is of it")


def between(version, like):
    """A Kafka that is not started, of a version that advertises what a recorded one does."""
    target = parse(f"kafka@{version}")
    target.advertised = lambda: dict(advertised.table(like))
    return target


@pytest.fixture
def five(monkeypatch):
    """No release is recorded but those with a persona."""
    known = matrix.releases()
    monkeypatch.setattr(matrix, "recorded", lambda: known)


def test_a_kafka_between_two_recorded_ones_is_held_against_the_nearest(five):
    found = chosen_release.choose(between("3.6.2", "3.9"))
    assert found.release == "3.9"
    assert found.reason.startswith(f"its ApiVersions fit 3.9 ({LISTED} of {LISTED} ranges); ")
    assert found.reason.endswith(
        "; it is Kafka 3.6.2 and 3.9.2 was recorded: what differs may be a change of Kafka's own"
        " between the two"
    )


@pytest.mark.parametrize("wanted", [None, "4.1"])
def test_whoever_is_held_against_a_release_between_is_told_that_its_cases_are_few(wanted):
    target = between("4.1.0", "4.1")
    target.release = None
    found = chosen_release.choose(target, wanted)
    assert found.release == "4.1"
    assert found.reason.endswith("; of 4.1 one case a claim is recorded")


def test_a_user_says_what_a_kafka_between_is_held_against(five):
    target = between("3.6.2", "3.9")
    chosen_release.check(target, "2.8")
    found = chosen_release.choose(target, "2.8")
    assert found.release == "2.8" and found.reason.startswith("--release says so; ")
    assert "it is Kafka 3.6.2 and 2.8.2 was recorded" in found.reason


def test_another_patch_is_held_against_the_one_that_is_recorded():
    found = chosen_release.choose(parse("kafka@2.8.0"))
    assert found.release == "2.8"
    assert found.reason.startswith("it is Kafka 2.8.0 and 2.8.2 was recorded: what differs may ")
    assert chosen_release.choose(parse("kafka@2.8")) == advertised.HeldAgainst("2.8")


def test_a_kafka_that_does_not_start_is_held_against_some_release(five):
    target = parse("kafka@3.6.2")

    def fails():
        raise StartFailed("broker 0 ended with 1")

    target.advertised = fails
    assert "it does not answer ApiVersions" in chosen_release.choose(target).reason


@pytest.mark.parametrize("target", ["reference@2.8", "recorded@2.8"])
def test_a_target_that_is_a_release_by_its_name_needs_no_reason(target):
    assert chosen_release.choose(parse(target)) == advertised.HeldAgainst("2.8")


def test_a_target_file_says_its_release(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'about = "Mine."\nname = "mine"\nversion = "1"\naddress = "127.0.0.1:1"\nrelease = "2.8"\n',
        encoding="utf-8",
    )
    assert chosen_release.choose(parse(str(file))).reason == "its target file says so"
    assert chosen_release.choose(parse(str(file)), "3.9").release == "3.9"
