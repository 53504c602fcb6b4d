"""Every checker catches its liar and is silent on what real Kafka answered.

The liars speak from 4.3.1's golden answers; the goldens of all five releases must be silent.
"""

from __future__ import annotations

import functools

import pytest

from touchstone.harness import checkers
from touchstone.harness.checkers import walks
from touchstone.harness.driver import brokers, deadlines, line, run, runner
from touchstone.harness.judgement.compare import compare
from touchstone.harness.model.transcript import OUTCOMES
from touchstone.harness.targets.liars import LIARS, LyingServer, stored
from touchstone.harness.tests.conversations import conversation
from touchstone.harness.tests.witness import RELEASES, golden, witness
from touchstone.reference_impl.wire.records.batch import Record, encode_batch

LAST = "4.3"
SHORT_S, LONG_S = 0.25, 60.0  # for those who hang, and for those who answer, on any machine
HALF = "half-a-frame"  # whose rest is waited for


@pytest.fixture(autouse=True)
def _short_silences(monkeypatch):
    monkeypatch.setattr(line, "QUIET_S", (0.02, 1, 0.02, 0.02))
    # Stored requests are known by their bytes, so nobody is given more time than stands there.
    monkeypatch.setattr(deadlines, "granted", lambda api, body, patience_s: body)
    for looks_again in (runner, brokers):  # what is stored is there at the first look, or never
        monkeypatch.setattr(looks_again, "pauses", lambda: iter([2 * LONG_S]))


@functools.cache
def replayed(liar, release=LAST):
    honest = golden(release)
    with LyingServer(liar, stored(honest)) as server:
        nonce = honest.header.nonce
        hangs = liar is not None and (liar.caught_by == "hung" or liar.name == HALF)
        patience = SHORT_S if hangs else LONG_S
        return run(witness(release), server.endpoint, nonce=nonce, deadline_s=patience)


@pytest.mark.parametrize("release", RELEASES)
def test_real_kafka_breaks_no_property(release):
    assert checkers.check_all(golden(release)) == []


@pytest.mark.parametrize("release", RELEASES)
def test_an_honest_replay_breaks_none_and_differs_in_nothing(release):
    found = replayed(None, release)
    assert checkers.check_all(found) == []
    assert compare(golden(release), found) == []


@pytest.mark.parametrize("name", LIARS)
def test_the_liar_is_caught(name):
    liar = LIARS[name]
    found = replayed(liar)
    caught = {finding.checker for finding in checkers.check_all(found)}
    assert liar.caught_by in caught | {found.connection}


def test_every_checker_has_a_liar():
    caught = {liar.caught_by for liar in LIARS.values()}
    assert checkers.checkers().keys() <= caught
    assert caught - checkers.checkers().keys() <= set(OUTCOMES)


def test_findings_carry_their_checkers_name():
    """A finding under another name would hide a checker that cannot find anything."""
    for liar in LIARS.values():
        if liar.caught_by in checkers.checkers():
            check = checkers.checkers()[liar.caught_by]
            assert {finding.checker for finding in check(replayed(liar))} == {liar.caught_by}


def test_liars_and_checkers_explain_themselves():
    for liar in LIARS.values():
        assert liar.sentence.endswith("."), liar.name
    for name, check in checkers.checkers().items():
        assert (check.__globals__["__doc__"] or "").strip(), name


def test_a_checker_that_raises_is_named(monkeypatch):
    def broken(transcript):
        raise KeyError("oops")

    monkeypatch.setattr(checkers, "checkers", lambda: {"broken": broken})
    with pytest.raises(checkers.CheckerFailed, match="checker broken raised KeyError: 'oops'"):
        checkers.check_all(golden(LAST))


@pytest.mark.parametrize("name", sorted(checkers.checkers()))
def test_an_answer_to_a_request_that_does_not_decode_is_no_crash(name):
    """Checkers see whatever a target sent, also beside requests that nobody can read."""
    check = checkers.checkers()[name]
    for release in RELEASES:
        bare = golden(release)
        events = tuple(event for event in bare.events if event.direction != "sent")
        check(type(bare)(bare.header, events))


def test_partitions_are_found_by_id_and_by_name():
    part = {"partition_index": 0, "error_code": 0, "high_watermark": 5}
    asked = {"partition": 0, "fetch_offset": 3, "partition_max_bytes": 9}
    by_id = conversation(
        (
            "asked", "Fetch", 13,
            {"topics": [{"topic_id": b"\1" * 16, "partitions": [asked]}]},
            {"responses": [{"topic_id": b"\1" * 16, "partitions": [part]}]},
        )
    )  # fmt: skip
    (found,) = walks.partitions(by_id, "Fetch")
    assert (found.topic, found.index, found.asked["fetch_offset"]) == (b"\1" * 16, 0, 3)


def fetched_twice(first, second):
    """Two answers of Fetch with a batch at offset 0: their (high watermark, last stable offset)."""
    batch = encode_batch([Record(0, 0, b"k", b"v")], base_timestamp=1)
    asked = {"topics": [{"topic": "t", "partitions": [{"partition": 0}]}]}
    lines = []
    for label, (mark, stable) in (("first", first), ("second", second)):
        part = {"partition_index": 0, "error_code": 0, "log_start_offset": 0, "records": batch,
                "high_watermark": mark, "last_stable_offset": stable}  # fmt: skip
        answer = {"responses": [{"topic": "t", "partitions": [part]}]}
        lines.append((label, "Fetch", 5, asked, answer))
    return conversation(*lines)


@pytest.mark.parametrize(
    "first, second, broken",
    [
        ((0, 0), (1, 1), set()),  # the batch was acknowledged between note and read
        ((0, 0), (0, 0), {"fetch-visibility"}),
        ((0, 1), (1, 1), set()),  # so was what made it stable
        ((0, 1), (0, 0), {"fetch-visibility", "watermarks"}),
    ],
)
def test_a_limit_that_rose_while_the_log_was_read_breaks_nothing(first, second, broken):
    """Real Kafka 2.8.2 with three brokers answered a record at the high watermark of its answer."""
    found = checkers.check_all(fetched_twice(first, second))
    assert {finding.checker for finding in found} == broken


def test_tagged_fields_that_hold_their_default_are_no_fields():
    answer = {"error_code": 0, "_tags": {0: b"\0"}, "rows": [{"error_code": 3, "_tags": {}}]}
    assert [path for path, _, _ in walks.leaves(answer)] == [
        "error_code", "rows", "rows[0].error_code"
    ]  # fmt: skip
