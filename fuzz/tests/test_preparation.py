"""A target is prepared: what it says is what valid requests name, and they are taken seriously."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from touchstone.fuzz import quality
from touchstone.fuzz.corpus_run import NotPrepared
from touchstone.fuzz.in_process import InProcess
from touchstone.fuzz.overlay import overlay
from touchstone.fuzz.preparation import Asker, filled, prepare, prepared
from touchstone.fuzz.runner import Link
from touchstone.fuzz.world import World
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve

JOIN_GROUP, NOT_COORDINATOR = 11, 16
CONFIG = {"group.initial.rebalance.delay.ms": "0", "auto.create.topics.enable": "false"}


@pytest.fixture(scope="module")
def link():
    with serve(release="4.3", config=CONFIG) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Link(host, int(port)) as one:
            yield one


@pytest.fixture(scope="module")
def world(link):
    return prepare(link, advertised.table("4.3"), ours=True)


class CutsAnswers(InProcess):
    """A broker of which each 20th answer lacks its last byte."""

    answered = 0

    def play(self, segments, **how):
        outcome = super().play(segments, **how)
        return replace(outcome, answers=tuple(map(self._cut, outcome.answers)))

    def _cut(self, answer):
        self.answered += 1
        return answer if self.answered % 20 else answer[:-1]


def test_a_target_whose_answers_cannot_all_be_read_is_prepared():
    link = CutsAnswers("4.3")
    world = prepare(link, advertised.table("4.3"), ours=True)
    assert world.topics["kept"][0].id != World().topics["kept"][0].id
    assert link.answered > 40


@pytest.mark.slow
def test_topics_bear_the_ids_that_the_target_gave(world):
    made_up = World().topics["kept"][0].id
    assert all(topic.id != made_up for topic in world.topics["kept"])


@pytest.mark.slow
def test_members_of_classic_groups_are_there(link, world):
    for member in world.members["classic"]:
        beat = {"group_id": member.group, "generation_id": member.epoch, "member_id": member.id}
        assert link.ask(12, 0, beat)["error_code"] == 0


@pytest.mark.slow
def test_producers_bear_what_the_target_gave(world):
    assert len({one.id for one in world.producers["ongoing"]}) == len(world.producers["ongoing"])


@pytest.mark.slow
def test_a_second_preparation_meets_the_members_of_the_first(link, world):
    again = prepare(link, advertised.table("4.3"), ours=True)
    assert {one.id for one in again.members["classic"]}.isdisjoint(
        one.id for one in world.members["classic"]
    )


class HangsUp:
    """A target that answers nothing, with what it was asked."""

    def __init__(self):
        self.asked = []

    def ask_all(self, questions):
        self.asked += questions
        return [None] * len(questions)

    ask_apart = ask_all

    def rest(self):
        pass


def test_what_is_not_served_stays_made_up():
    target = HangsUp()
    assert (prepared(target, {}), target.asked) == (World(), [])


def test_a_target_that_hangs_up_on_everything_stays_made_up():
    target = HangsUp()
    world = prepared(target, advertised.table("4.3"))
    assert target.asked
    assert world.members["classic"] == World().members["classic"]


class NotCoordinator(InProcess):
    """A broker that did not load the partition of a group, as 4.3.1 after a case of `frames`."""

    def ask_apart(self, questions):
        assert {key for key, _, _ in questions} == {JOIN_GROUP}
        return [{"error_code": NOT_COORDINATOR}] * len(questions)


def test_a_cluster_of_ours_without_a_coordinator_is_not_prepared():
    with pytest.raises(NotPrepared, match="JoinGroup is only answered with error code 16"):
        prepare(NotCoordinator("4.3"), advertised.table("4.3"), ours=True)


def test_of_other_clusters_it_is_taken_as_it_is():
    target, made_up = NotCoordinator("4.3"), World().members["classic"]
    assert prepare(target, advertised.table("4.3"), ours=False).members["classic"] == made_up


def test_a_body_is_cut_to_its_version_and_filled():
    assert filled(12, 0, {"group_id": "g", "group_instance_id": "i"}) == {
        "group_id": "g", "generation_id": 0, "member_id": "",
    }  # fmt: skip


@pytest.mark.slow
def test_the_measuring_tool_counts_what_the_overlay_says_is_impossible():
    result = CliRunner().invoke(quality.command, ["--target", "reference@4.3", "--cases", "800"])
    assert result.exit_code == 0, result.output
    for reason in {one.reason for one in overlay().impossible.values()}:
        assert reason in result.output


@pytest.mark.slow
def test_a_question_that_is_held_holds_no_other_up(link):
    """A second member waits for the first, who does not come to the rebalance."""
    body = {
        "session_timeout_ms": 60_000, "rebalance_timeout_ms": 60_000, "member_id": "",
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}],
    }  # fmt: skip
    first, second = ({**body, "group_id": f"held-{number}"} for number in range(2))
    asker = Asker(link, advertised.table("4.3"))
    asker("FindCoordinator", 1, {"key": "held-0", "key_type": 0})  # makes the groups' topic
    assert None not in asker.all_done("JoinGroup", 3, [first])
    held, free = asker.all_done("JoinGroup", 3, [first, second], apart=True)
    assert (held, free["error_code"]) == (None, 0)
