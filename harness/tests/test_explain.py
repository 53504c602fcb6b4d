"""`touchstone explain`: a reader of any claim reaches what it rests on."""

import pytest
from click.testing import CliRunner

from touchstone.harness import exits
from touchstone.harness.cli import explain
from touchstone.harness.cli.coverage import all_claims


def run(*words):
    return CliRunner().invoke(explain.command, words)


def test_a_claim_is_explained_with_its_evidence_and_its_steps():
    done = run("topics.partition-counts-below-one-are-refused[v2]")
    assert done.exit_code == 0, done.output
    assert "CreateTopics answers INVALID_PARTITIONS" in done.output
    assert "TOPIC-11: A number of partitions of zero or less is refused" in done.output
    assert "AdminUtils.assignReplicasToBrokers, 1.0.2" in done.output
    assert "create: CreateTopics v2" in done.output
    assert "create: topics[*].error_code each is INVALID_PARTITIONS (37)" in done.output
    assert "pytest --pyargs touchstone.suites.topics.test_refusals::" in done.output


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("TOPIC-12", "topics.replication-factors-below-one-are-refused"),
        (
            "CONS-13",
            "client/test_handing_out.py::test_what_cannot_be_is_refused",
        ),
        ("KIP-98", "https://cwiki.apache.org/confluence/display/KAFKA/KIP-98"),
    ],
)
def test_evidence_is_explained(word, says):
    done = run(word)
    assert done.exit_code == 0 and says in done.output


def test_a_claim_says_as_for_which_release_others_are_written():
    done = run("topics.partition-counts-below-one-are-refused")
    assert "between:" in done.output and "4.1 as 4.3" in done.output


def test_what_nobody_knows_has_neighbours():
    done = run("topics.zero-partitions", "KIP-98")
    assert done.exit_code == exits.REFUSED
    assert "no claim, clause or KIP is called topics.zero-partitions; did you mean" in done.output
    assert "Exactly Once" in done.output


@pytest.mark.slow
def test_every_claim_can_be_explained():
    claims = all_claims()
    for one in claims:
        lines = list(explain.of_claim(one))
        assert any("steps of " in line for line in lines), one.id
        assert max(map(len, lines)) < 220, one.id
