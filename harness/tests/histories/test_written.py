"""Histories of others: what is legal is not accused, what is illegal does not pass.

Each row is what real Kafka may do (or may not), and was judged wrongly once or stands beside one
that was. `LEGAL` says how many anomalies are excused; `ILLEGAL` which property is broken.
"""

from __future__ import annotations

import pytest

from touchstone.harness.checkers.histories import CONFORMS, DIVERGES, INCONCLUSIVE, judge
from touchstone.harness.tests.histories.written import (
    COMMITTED,
    abort,
    at_once,
    commit,
    drain,
    history,
    join,
    poll,
    recall,
    seek,
    send,
    store,
)

COMPACT = {"cleanup.policy": "compact"}
TWO_OF_A_KEY = (send("a", 0, key="k"), send("b", 1, key="l"), send("c", 2, key="k"))
AFTER = drain((1, "b"), (2, "c"), to=3)
ABC = (send("a", 0), send("b", 1), send("c", 2))
ALL = drain((0, "a"), (1, "b"), (2, "c"), to=3)
A = (send("a", 0), drain((0, "a"), to=1))
ABORTED = (send("a", 0, tx="x"), abort("x"), poll((0, "a"), isolation=COMMITTED))
TORN = (at_once(send("a", 0, tx="x"), send("b", tx="x")), commit("x"))

LEGAL = {
    "a reader passes what compaction removed": (
        1, (*TWO_OF_A_KEY, poll((0, "a"), (1, "b"), by="e"), seek(0), poll((1, "b"), (2, "c")),
            drain((1, "b"), (2, "c"), to=3, start=1)), COMPACT),
    "what was read is compacted": (1, (*TWO_OF_A_KEY, poll((0, "a")), AFTER), COMPACT),
    "what nobody read is compacted": (1, (*TWO_OF_A_KEY, AFTER), COMPACT),
    "a topic is compacted and the history names no keys": (
        1, (*ABC, drain((1, "b"), (2, "c"), to=3)), COMPACT),
    "a record may have a successor whose end is unknown": (
        1, (send("a", 0, key="k"), send("b", key="k"), send("c", 2, key="l"),
            drain((2, "c"), to=3)), {"cleanup.policy": "compact,delete"}),
    "a member begins again behind after a rebalance": (
        0, (*ABC, join(1), poll((0, "a"), (1, "b")), join(2), poll((1, "b"), (2, "c")), ALL), {}),
    "a member goes on further ahead after a rebalance": (
        0, (*ABC, join(1), poll((0, "a")), join(2, by="e"), poll((1, "b"), by="e"), join(3),
            poll((2, "c")), ALL), {}),
    "offsets of an aborted transaction do not count": (
        0, (*A, store(1), store(5, tx="x"), abort("x"), recall(1)), {}),
    "offsets of an open transaction do not count yet": (
        0, (*A, store(1), store(5, tx="x"), recall(1), commit("x"), recall(5)), {}),
    "offsets of a transaction whose commit is unknown count": (
        0, (*A, store(1), store(5, tx="x"), commit("x", "unknown"), recall(5)), {}),
    "and may not count": (
        0, (*A, store(1), store(5, tx="x"), commit("x", "unknown"), recall(1)), {}),
    "a coordinator of 3.9 that was cut off tells an offset of before": (
        1, (*A, store(1), store(5), recall(1), recall(5)), {"release": "3.9"}),
    "nobody asked a new coordinator for what is stable": (
        1, (*A, store(1), store(5), recall(1, stable=False), recall(5)), {"release": "4.3"}),
    "a store during a transaction stays, though its commit comes later": (
        0, (*A, store(5, tx="x"), store(7), commit("x"), recall(7)), {}),
    "an input whose copy was aborted is copied again": (
        0, (send("a", 0, tx="x", copy_of="i"), store(1, tx="x", of="in-0"), abort("x"),
            send("b", 2, tx="y", copy_of="i"), store(1, tx="y", of="in-0"), commit("y"),
            drain((2, "b"), to=4, isolation=COMMITTED)), {}),
    "a copier that went back copies again": (
        0, (send("a", 0, tx="x"), store(1, tx="x", of="in-0"), commit("x"),
            seek(0, by="copier", topic="in"),
            send("b", 2, tx="y"), store(1, tx="y", of="in-0"), commit("y"),
            drain((0, "a"), (2, "b"), to=4, isolation=COMMITTED)), {}),
    "a partition without news is stored again beside one that has some": (
        0, (send("a", 0, tx="x"), store(1, tx="x", of="in-0", other=1), commit("x"),
            send("b", 2, tx="y"), store(1, tx="y", of="in-0", other=2), commit("y"),
            drain((0, "a"), (2, "b"), to=4, isolation=COMMITTED)), {}),
    "a producer of before KIP-360 gave a record up that landed all the same": (
        1, (at_once(send("a"), send("b", 0)), drain((0, "b"), (1, "a"), to=2)),
        {"release": "2.2"}),
    "an unclean election loses what was acknowledged": (
        1, (*ABC, drain((0, "a"), (1, "b"), to=2)), {"unclean": True}),
    "an unclean election loses an abort's marker, and the next commit covers its records": (
        1, (send("a", 0, tx="x"), abort("x"), send("b", 1, tx="y"), commit("y"),
            drain((0, "a"), (1, "b"), to=3, isolation=COMMITTED)), {"unclean": True}),
}  # fmt: skip

ILLEGAL = {
    "a lost write that a reader went past, in a partition that nobody drained": (
        "lost-write", (*ABC, poll((0, "a"), (2, "c"))), {}),
    "a lost write behind a seek": ("lost-write", (*ABC, seek(1), poll((2, "c"))), {}),
    "a lost write of a transaction that a reader of what is committed went past": (
        "lost-write", (send("a", 0), at_once(send("b", 1, tx="x"), send("c", 2, tx="x")),
                       commit("x"), send("e", 4), poll((0, "a"), (4, "e"), isolation=COMMITTED)),
        {}),
    "an unknown send is read before one that was acknowledged earlier": (
        "reordered", (send("a", 1), send("b", by="q"), drain((0, "b"), (1, "a"), to=2)), {}),
    "an unknown send was read before the next began, which comes before it": (
        "reordered", (send("a"), poll((1, "a")), send("b", 0, by="q"),
                      drain((0, "b"), (1, "a"), to=2)), {}),
    "two unknown sends of one producer changed places": (
        "reordered", (at_once(send("a"), send("b")), drain((0, "b"), (1, "a"), to=2)), {}),
    "two sends of one transaction changed places on an old release": (
        "reordered", (at_once(send("a", tx="x"), send("b", tx="x")), commit("x"),
                      drain((0, "b"), (1, "a"), to=3)), {"release": "2.2"}),
    "an unknown send of a transaction is in the log and not shown with the rest": (
        "torn-transaction", (*TORN, drain((0, "a"), (1, "b"), to=3),
                             drain((0, "a"), to=3, isolation=COMMITTED, by="e")), {}),
    "a transaction is torn before a reader who goes on": (
        "torn-transaction", (at_once(send("a", 0, tx="x"), send("b", 1, tx="x")), commit("x"),
                             send("c", 3), poll((0, "a"), (1, "b"), by="e"),
                             poll((0, "a"), (3, "c"), isolation=COMMITTED)), {}),
    "offsets of an aborted transaction count": (
        "stale-commit", (*A, store(1), store(5, tx="x"), abort("x"), recall(5)), {}),
    "offsets of a transaction that was never ended count": (
        "stale-commit", (*A, store(1), store(5, tx="x"), recall(5)), {}),
    "offsets of a transaction whose commit was refused count": (
        "stale-commit", (*A, store(1), store(5, tx="x"), commit("x", "fail"), recall(5)), {}),
    "offsets of a committed transaction do not count": (
        "stale-commit", (*A, store(1), store(5, tx="x"), commit("x"), recall(1)), {}),
    "a coordinator of 3.9 forgot a commit for good": (
        "stale-commit", (*A, store(1), store(5), recall(1), recall(1)), {"release": "3.9"}),
    "a coordinator of 3.9 tells what nobody committed": (
        "stale-commit", (*A, store(1), store(5), recall(3), recall(5)), {"release": "3.9"}),
    "a coordinator of 4.3 tells who asks for what is stable an offset of before": (
        "stale-commit", (*A, store(1), store(5), recall(1), recall(5)), {"release": "4.3"}),
    "an input is copied in two transactions": (
        "copied-twice", (send("a", 0, tx="x", copy_of="i"), commit("x"),
                         send("b", 2, tx="y", copy_of="i"), commit("y")), {}),
    "an input is copied again in a transaction whose commit is unknown and was seen": (
        "copied-twice", (send("a", 0, tx="x", copy_of="i"), commit("x"),
                         send("b", 2, tx="y", copy_of="i"), commit("y", "unknown"),
                         poll((2, "b"), isolation=COMMITTED)), {}),
    "a copier stores the offset that was stored": (
        "copied-twice", (send("a", 0, tx="x"), store(1, tx="x", of="in-0"), commit("x"),
                         send("b", 2, tx="y"), store(1, tx="y", of="in-0"), commit("y")), {}),
    "a copier stores a lower offset beside a higher one": (
        "copied-twice", (send("a", 0, tx="x"), store(5, tx="x", of="in-0", other=1), commit("x"),
                         send("b", 2, tx="y"), store(4, tx="y", of="in-0", other=2), commit("y")),
        {}),
    "an unclean election makes no records up": (
        "phantom", (*A, poll((1, "nobody's"))), {"unclean": True}),
    "an unclean election shows nothing that was aborted": (
        "aborted-read", ABORTED, {"unclean": True}),
    "an unclean election gives no offset twice in one poll": (
        "non-monotonic-poll", (send("a", 0), poll((0, "a"), (0, "a"))), {"unclean": True}),
    "compaction takes no record whose key has no later one": (
        "lost-write", (*TWO_OF_A_KEY, drain((0, "a"), (2, "c"), to=3)), COMPACT),
    "nor one whose later one came after the reading": (
        "vanished-read", (*TWO_OF_A_KEY[:2], poll((0, "a")), drain((1, "b"), to=2),
                          send("c", 2, key="k")), COMPACT),
    "nor one whose later one was refused": (
        "lost-write", (send("a", 0, key="k"), send("b", key="k", is_="fail"),
                       drain(to=1)), COMPACT),
    "nor is an earlier record of the key a reason": (
        "lost-write", (*TWO_OF_A_KEY, drain((0, "a"), (1, "b"), to=3)), COMPACT),
    "nobody's group was rebalanced, and a reader goes back": (
        "non-monotonic-poll", (*ABC, poll((0, "a"), (1, "b")), join(2, by="e"), poll((1, "b"))),
        {}),
    "nobody's group was rebalanced, and a reader leaves something out": (
        "skipped", (*ABC, poll((0, "a")), join(2, by="e"), poll((1, "b"), by="e"),
                    poll((2, "c"))), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_is_not_accused(name):
    excused, steps, promised = LEGAL[name]
    report = judge(history(*steps, **promised))
    assert report.verdict == CONFORMS, [str(each) for each in report.broken]
    assert len(report.excused) == excused


@pytest.mark.parametrize("name", ILLEGAL)
def test_what_is_illegal_does_not_pass(name):
    broken, steps, promised = ILLEGAL[name]
    report = judge(history(*steps, **promised))
    assert broken in report.names() and report.verdict == DIVERGES


def test_there_are_fourteen_legal_and_twenty_illegal_ones():
    assert len(LEGAL) >= 14 and len(ILLEGAL) >= 20


def test_one_drained_partition_does_not_praise_another():
    other = send("b", 0, partition=1)
    report = judge(history(*A, other))
    assert report.verdict == INCONCLUSIVE and report.unread == ["t-1"]
