"""A Fetch that a quota has emptied is asked again, unless that is what its case is about."""

import pytest

from touchstone.harness.driver import run
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.tests.test_driver import answering

EMPTIED = {"throttle_time_ms": 1, "responses": []}
TOLD = {
    "throttle_time_ms": 0,
    "responses": [{"topic": "t", "partitions": [
        {"partition_index": 0, "error_code": 0, "high_watermark": 1, "last_stable_offset": 1,
         "records": b""}]}],
}  # fmt: skip
TOPICS = [{"topic": "t", "partitions": [
    {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 9}]}]  # fmt: skip


def asked(*answers, api="Fetch", kafkas=None, **body):
    """The transcript of one request to a broker that has these answers, one after the other; the
    last one stays.
    """
    left = list(answers)
    script = answering(**{api: lambda _: left.pop(0) if len(left) > 1 else left[0]})
    request = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "topics": TOPICS} | body
    step = Ask(api, 7 if "session_epoch" in body else 4, request, name="read")
    with LyingServer(None, script) as server:
        return run(Scenario([step]), server.endpoint, nonce="n", deadline_s=60.0, kafkas=kafkas)


def responses(transcript):
    return transcript.answers["read"]["responses"]


def test_it_is_asked_again_until_it_is_told():
    found = asked(EMPTIED, EMPTIED, TOLD, kafkas=asked(TOLD))
    assert [row["topic"] for row in responses(found)] == ["t"]
    assert [event.direction for event in found.events] == ["opened", "sent", "received"]


def test_without_topics_in_kafkas_answer_it_stands():
    for kafkas in (None, asked(EMPTIED)):
        assert responses(asked(EMPTIED, TOLD, kafkas=kafkas)) == []


@pytest.mark.parametrize(("epoch", "topics"), [(-1, 1), (0, 1), (1, 0)])
def test_within_a_session_it_stands(epoch, topics):
    session = {"error_code": 0, "session_id": 0}
    found = asked(
        EMPTIED | session, TOLD | session, kafkas=asked(TOLD | session, session_epoch=epoch),
        session_id=0, session_epoch=epoch, forgotten_topics_data=[],
    )  # fmt: skip
    assert len(responses(found)) == topics


def test_without_a_throttle_it_stands():
    assert responses(asked(EMPTIED | {"throttle_time_ms": 0}, TOLD, kafkas=asked(TOLD))) == []


def test_topics_stand_although_there_is_a_throttle():
    found = asked(TOLD | {"throttle_time_ms": 1}, EMPTIED, kafkas=asked(TOLD))
    assert len(responses(found)) == 1


def test_whoever_is_throttled_without_end_is_judged(monkeypatch):
    monkeypatch.setattr("touchstone.harness.driver.deadlines.LONGEST_S", 0.02)
    assert responses(asked(EMPTIED, kafkas=asked(TOLD))) == []
