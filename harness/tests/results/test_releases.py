"""What changed between two releases: from recordings, by area, in three forms."""

import json

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main

CLAIM = "acks.a-minimum-above-the-replicas"


def told(*words):
    done = CliRunner().invoke(main, ["releases", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow  # 0.3 s: the first to import every suite
def test_a_known_change_is_told_with_both_answers():
    text = told("2.8", "3.9", "--for", "acks")
    assert text.startswith("Kafka 2.8 to 3.9: ")
    answers = "Kafka 2.8 answers NOT_ENOUGH_REPLICAS (19), Kafka 3.9 answers NONE (0)"
    assert answers in text and f"{CLAIM}: Produce with acks=all answers" in text
    found = json.loads(told("2.8", "3.9", "--for", "acks", "--format", "json"))
    assert found["compared"] > len(found["changes"]) > 0
    (mine,) = [one for one in found["changes"] if one["claim"] == CLAIM]
    assert (mine["area"], mine["answers"]) == ("acks", answers)
    assert "Produce: 0-9 to 0-11" in found["versions"]
    assert "JoinGroup: 0-7 to 0-9" not in found["versions"], "nobody asked for groups"


@pytest.mark.slow  # it would import every suite where it runs alone
def test_the_other_way_round_is_the_reverse():
    back = told("3.9", "2.8", "--for", "acks", "--format", "markdown")
    assert "Kafka 3.9 answers NONE (0), Kafka 2.8 answers NOT_ENOUGH_REPLICAS (19)" in back
    assert back.startswith("# Kafka 3.9 to 2.8\n") and "\n## acks\n" in back
