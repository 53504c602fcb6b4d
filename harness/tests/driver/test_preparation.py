"""How long a target is waited for: briefly for what never comes, and on for what was only late."""

from __future__ import annotations

import contextlib
import socket
import time

from touchstone.harness.driver import deadlines
from touchstone.harness.driver.line import Line
from touchstone.harness.driver.preparation import (
    BRIEF_S,
    ENOUGH,
    OFTEN,
    SILENT_S,
    TIMES,
    Preparation,
    Waits,
)
from touchstone.harness.driver.runner import run
from touchstone.harness.model.scenario import Scenario, Until
from touchstone.harness.model.steps import create_topic, metadata
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, METADATA, small_kafka

LABEL = "known topic"


def wait(name: str, path: str = "topics[0].error_code", value: object = 0) -> Until:
    return Until(metadata(name, name=f"known {name}"), path, "==", value)


def waits(*labels: str) -> Waits:
    return Waits(frozenset(labels), Preparation())


def ended(asked: Waits, step: Until, *, done: bool, seconds: float = 20.0) -> bool:
    return asked.ended(step, LABEL, done, seconds)


def test_what_never_comes_is_waited_for_briefly_and_the_case_goes_on():
    asked = waits(LABEL)
    for number in range(ENOUGH):
        assert asked.patience(wait(f"topic-{number}"), 20.0) == 20.0
        assert ended(asked, wait(f"topic-{number}"), done=False), "the case goes on"
    assert asked.patience(wait("another"), 20.0) == BRIEF_S


def test_what_comes_in_other_cases_was_only_late():
    asked = waits(LABEL)
    for _ in range(ENOUGH):
        ended(asked, wait("early"), done=False)
    assert ended(asked, wait("topic"), done=True, seconds=0.5)
    assert asked.patience(wait("late"), 20.0) == 20.0
    assert not ended(asked, wait("late"), done=False), "the next step would be too early"


def test_what_another_question_gets_tells_nothing():
    """Metadata of every topic may never be answered where that of one topic is."""
    asked = waits(LABEL)
    every = Until(metadata(every=True, name="every"), "topics[0].error_code", "==", 0)
    older = Until(metadata("topic", version=1, name="older"), "topics[0].error_code", "==", 0)
    assert ended(asked, wait("topic"), done=True)
    assert ended(asked, every, done=False) and ended(asked, older, done=False)


def test_what_seldom_comes_is_waited_for_a_few_times_as_long_as_it_ever_took():
    asked = waits()
    ended(asked, wait("topic"), done=True, seconds=1.5)
    for _ in range(OFTEN):
        assert asked.patience(wait("topic"), 20.0) == 20.0
        ended(asked, wait("topic"), done=False)
    assert asked.patience(wait("topic"), 20.0) == TIMES * 1.5
    ended(asked, wait("topic"), done=True, seconds=11.0)
    assert asked.patience(wait("topic"), 20.0) == 20.0, "never longer than the deadline"


def test_a_wait_that_a_claim_is_about_ends_its_case_and_counts():
    asked = waits()
    for _ in range(ENOUGH):
        assert not ended(asked, wait("topic"), done=False)
    assert asked.patience(wait("topic"), 20.0) == BRIEF_S


def test_numbers_are_alike_and_error_codes_are_not():
    asked = waits()
    for number in range(ENOUGH):
        ended(asked, wait("topic", "topics[0].partitions[0].leader_id", number), done=False)
        ended(asked, wait("topic", value=number), done=False)
    assert asked.patience(wait("topic", "topics[0].partitions[0].leader_id", 9), 20.0) == BRIEF_S
    assert asked.patience(wait("topic", value=9), 20.0) == 20.0


def test_an_api_that_never_answers_is_waited_for_briefly():
    asked = waits()
    for _ in range(ENOUGH):
        assert asked.for_answer("JoinGroup", 10.0) == 10.0
        asked.answered(11, False, 10.0)
    assert asked.for_answer("JoinGroup", 10.0) == SILENT_S
    assert asked.for_answer("SyncGroup", 10.0) == 10.0


def test_a_connection_that_is_never_closed_is_waited_for_briefly():
    asked = waits()
    for _ in range(ENOUGH):
        assert asked.for_answer(None, 10.0) == 10.0
        asked.answered(None, False, 10.0)
    assert asked.for_answer(None, 10.0) == BRIEF_S


def test_what_was_cut_short_is_told():
    asked = waits()
    assert asked.memory.report_lines() == []
    for _ in range(ENOUGH + 3):
        asked.for_answer("JoinGroup", 10.0)
        asked.answered(11, False, 10.0)
    wait_once = wait("topic")
    for _ in range(ENOUGH + 1):
        asked.patience(wait_once, 20.0)
        ended(asked, wait_once, done=False)
    assert asked.memory.report_lines() == [
        "never answered: JoinGroup (6 cases); later ones waited 0.25 s, not the deadline",
        "waited for only briefly, for it never came before: Metadata (1)",
    ]


def test_on_a_busy_machine_what_never_comes_is_waited_for_briefly_too():
    """There a connection takes a second to come about, and a deadline is at least fifty of them."""
    asked = waits()
    step = metadata("topic")
    assert deadlines.seconds(step, asked, 10.0, 1.0) == deadlines.ROUND_TRIPS
    for _ in range(ENOUGH):
        asked.answered(METADATA, False, 50.0)
    assert deadlines.seconds(step, asked, 10.0, 1.0) == deadlines.BRIEF_TRIPS


def test_what_a_request_grants_its_broker_is_not_waited_for_where_it_never_answers():
    asked, step = waits(), create_topic("topic")
    granted = step.body["timeout_ms"] / 1000 + 1.5
    assert deadlines.seconds(step, asked, 1.5, 0.0) == granted
    for _ in range(ENOUGH):
        asked.answered(CREATE_TOPICS, False, granted)
    assert deadlines.seconds(step, asked, 1.5, 0.0) == SILENT_S
    asked.answered(CREATE_TOPICS, True, 0.25)
    assert deadlines.seconds(step, asked, 1.5, 0.0) == granted, "it does answer at times"


def test_a_connection_that_ends_is_no_answer():
    def closes(key, version, answer):
        return None if key == METADATA else answer

    asked = waits()
    for _ in range(ENOUGH):
        asked.answered(METADATA, False, 10.0)
    scenario = Scenario((metadata("topic", name="ask"),))
    with small_kafka(twist=closes) as server:
        seen = run(scenario, server.endpoint, nonce="n", deadline_s=60.0, target="t", waits=asked)
    assert seen.connections == {"a": "closed"}
    assert asked.for_answer("Metadata", 10.0) == SILENT_S


def test_our_own_targets_are_waited_for_to_the_end():
    asked = Waits()
    for _ in range(OFTEN + 1):
        assert not ended(asked, wait("topic"), done=False)
    assert asked.patience(wait("topic"), 20.0) == 20.0


def asked_in_vain(asked, line, seconds=0.0):
    """One case that waits for Metadata until its deadline and gets no answer."""
    began = time.perf_counter() - 30.0
    how, _ = asked.read(line, METADATA, began, time.perf_counter() + seconds)
    asked.answered(METADATA, how != "timeout", 30.0)
    return how


@contextlib.contextmanager
def lines(count):
    """Connections to somebody who says nothing, and the other end of each."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        found = []
        for _ in range(count):
            line = Line(listener.getsockname()[:2], 5.0)
            stack.callback(line.end)
            found.append((line, stack.enter_context(listener.accept()[0])))
        yield found


def test_a_wait_that_is_under_way_ends_when_it_is_known_that_nothing_comes():
    asked = waits()
    with lines(1) as ((line, _),):
        for _ in range(ENOUGH):
            asked.answered(METADATA, False, 30.0)
        assert asked_in_vain(asked, line, 3600.0) == "timeout", "and does not take an hour"


def test_a_slow_api_is_believed_again_when_its_answer_comes_late():
    """Nobody waits for it any more: its case is over, and its connection closed."""
    asked = waits()
    with lines(ENOUGH) as found:
        for line, _ in found:
            assert asked_in_vain(asked, line, 0.01) == "timeout"
            line.end()
        assert asked.silent("Metadata") and asked.for_answer("Metadata", 20.0) == SILENT_S
        found[1][1].sendall(b"late")
        assert not until(lambda: asked.silent("Metadata"), False)
    assert asked.for_answer("Metadata", 20.0) == 20.0
    assert asked.memory.report_lines() == []
    asked.memory.close()


def until(look, wanted):
    """What `look` says, once it is this, or after two minutes."""
    deadline = time.perf_counter() + 120.0
    while (found := look()) != wanted and time.perf_counter() < deadline:
        pass
    return found


def test_a_connection_that_is_closed_behind_its_case_is_no_answer():
    asked = waits()
    with lines(ENOUGH) as found:
        for line, other in found:
            asked_in_vain(asked, line, 0.01)
            other.close()
        assert asked.silent("Metadata") and asked.silent("Metadata")
    asked.memory.close()


def test_who_asks_while_enough_wait_is_told_that_it_is_known_soon():
    memory = Preparation()
    with contextlib.ExitStack() as stack:
        for number in range(ENOUGH):
            assert not memory.doubted("Fetch"), number
            stack.enter_context(memory.lasting("Fetch"))
        assert memory.doubted("Fetch") and not memory.doubted("Produce")
        memory.waited("Fetch", True, 1.0)
        assert not memory.doubted("Fetch"), "it has been answered"
    assert not memory.doubted("Fetch")


def test_own_questions_end_a_belief_and_never_begin_one():
    memory = Preparation()
    for _ in range(ENOUGH):
        assert not memory.mute("DescribeConfigs")
        memory.asked("DescribeConfigs", False, 5.0)
    assert memory.mute("DescribeConfigs") and not memory.silent("DescribeConfigs")
    memory.asked("DescribeConfigs", True, 1.0)
    assert not memory.mute("DescribeConfigs")


def test_a_slow_connection_makes_no_brief_wait_long():
    asked = waits()
    for _ in range(ENOUGH):
        asked.answered(METADATA, False, 10.0)
    step = metadata("topic")
    assert deadlines.seconds(step, asked, 10.0, 4.0) == 10.0
    here = ("broker", 9092)
    assert asked.round_trip(here, 0.5) == 0.5 and asked.round_trip(here, 4.0) == 0.5
