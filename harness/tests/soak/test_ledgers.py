"""What the ledgers of a soak find, and what they must not: each event by hand."""

from __future__ import annotations

import pytest

from touchstone.harness.checkers.soaks import flat
from touchstone.harness.checkers.soaks.group_ledger import GroupLedger
from touchstone.harness.checkers.soaks.log_ledger import LogLedger

PLACE = ("t", 0)
WHO = "producer-0"


def log(*events: str) -> LogLedger:
    """A ledger after events such as "send", "ack 0 at 0", "fail 1", "read 0 at 0"."""
    ledger = LogLedger([PLACE])
    for event in events:
        do, *rest = event.split()
        numbers = [int(word) for word in rest if word != "at"]
        if do == "send":
            ledger.send(WHO, PLACE)
        elif do == "fail":
            ledger.fail(WHO, PLACE, *numbers)
        else:
            {"ack": ledger.acknowledge, "read": ledger.read}[do](WHO, PLACE, *numbers)
    ledger.count_unread()
    return ledger


@pytest.mark.parametrize(
    "events",
    [
        ("send", "ack 0 at 0", "read 0 at 0"),
        ("send", "read 0 at 0", "ack 0 at 0"),
        ("send", "send", "fail 0", "read 1 at 0", "ack 1 at 0"),
        ("send", "send", "fail 0", "read 0 at 0", "read 1 at 1", "ack 1 at 1"),
        ("send", "send", "read 1 at 0", "fail 0", "ack 1 at 0"),
        ("send", "read 0 at 0", "fail 0"),
    ],
)
def test_what_a_cluster_may_do(events):
    ledger = log(*events)
    assert ledger.findings == [] and ledger.open == 0


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (("send", "ack 0 at 0"), "acknowledged at 0, not read up to the end 0"),
        (("send", "send", "ack 0 at 0", "read 1 at 0", "ack 1 at 0"), "not there before 0"),
        (("send", "send", "read 1 at 0", "ack 0 at 1", "ack 1 at 0"), "not there before 0"),
        (("send", "ack 0 at 0", "read 0 at 0", "read 0 at 1"), "a duplicate at 1"),
        (("send", "read 0 at 0", "read 0 at 1", "ack 0 at 1"), "out of order|a duplicate"),
        (("send", "send", "read 1 at 0", "read 0 at 1", "fail 0", "ack 1 at 0"), "out of order"),
        (("send", "ack 0 at 3", "read 0 at 0"), "acknowledged at 3, read at 0"),
        (("send", "ack 0 at -1", "read 0 at 0"), "acknowledged at -1, read at 0"),
        (("send", "fail 0", "read 0 at 1"), "read at 1, 0 is next"),
        (("send",), "nobody was told what became of it"),
    ],
)
def test_what_is_a_finding(events, said):
    (first, *_) = log(*events).findings
    assert any(each in first for each in said.split("|")), first


def test_a_group_may_read_again_what_was_not_committed():
    group = GroupLedger("g", [PLACE])
    group.read(PLACE, list(range(100)))
    group.read(PLACE, [98, 99, 100])
    group.commit(PLACE, 101)
    group.count_again()
    assert not group.findings
    assert group.counts["read again"] == 2 and not group.behind({PLACE: 101})
    assert group.behind({PLACE: 102}) == {PLACE: 101}


@pytest.mark.parametrize(
    ("offsets", "commit", "said"),
    [
        ([1, 2], 3, "offset 1 was given, and nobody was given 0"),
        ([0, 2], 3, "one poll gave offsets 0, 2"),
        ([0, 2, 1, 3], 4, "one poll gave offsets 0, 2, 1, 3"),
        ([0, 1], 3, "offset 3 was committed, and nobody was given 2"),
        ([0, 1], 1, "offset 1 was committed instead of 2"),
    ],
)
def test_a_group_skips_nothing_and_commits_what_it_read(offsets, commit, said):
    group = GroupLedger("g", [PLACE])
    group.read(PLACE, offsets)
    group.commit(PLACE, commit, offsets[-1] + 1)
    assert said in group.findings[0]


def test_members_that_share_a_partition_are_noticed():
    group = GroupLedger("g", [PLACE])
    for _ in range(2):
        group.read(PLACE, list(range(10)))
    group.count_again()
    assert group.findings == ["group g: 10 of 10 records were read again"]


def test_memory_is_flat_when_only_its_beginning_and_a_peak_grow():
    warm = [10 << 20, 30 << 20, *[50 << 20] * 10]
    assert flat.is_flat(warm) and flat.growth(warm) == 0
    peak = [*warm[:8], 200 << 20, *warm[9:]]
    assert flat.is_flat(peak)


def test_memory_that_leaks_is_not_flat():
    leak = [(50 + number) << 20 for number in range(40)]
    assert flat.growth(leak) == 20 << 20 and not flat.is_flat(leak)


def test_too_few_looks_say_nothing_of_memory():
    assert flat.growth([1, 1 << 40]) is None and flat.is_flat([1, 1 << 40])
