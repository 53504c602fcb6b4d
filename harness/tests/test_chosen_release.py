"""Which release a target is held against, and that its reader is told why."""

from __future__ import annotations

import pytest

from touchstone.harness.model import advertised
from touchstone.harness.run import chosen_release
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


def test_who_does_not_answer_is_held_against_the_newest():
    found = chosen_release.choose(parse("127.0.0.1:1"))
    assert found.release == matrix.release("latest").name
    assert found.reason == "it does not answer ApiVersions, and this is the newest"


def test_an_oracle_that_is_a_release_decides():
    judge = judge_for("127.0.0.1:1", "recorded@3.9", nonce="n")
    assert (judge.release, judge.release_reason) == ("3.9", "--oracle recorded@3.9 is of it")


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
