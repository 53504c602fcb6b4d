"""Random histories of a transactional id, done to real Kafka and to the reference broker.

Two producers share the id, so that one fences the other; Hypothesis draws who begins anew, adds
partitions, appends, sends offsets and ends, in which version, with stale epochs and sequences with
gaps among them. After each step both brokers must have answered the same, hold as many records,
let readers of committed ones read as far, list the same aborted transactions and have the same
offsets. Who appends to a partition has added it (until releases that look, an append without would
leave it open for ever), except in the version that adds by itself.

`live` on all releases; that the machine notices is shown without Kafka, by defects planted in it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import initialize, precondition, rule

from touchstone.harness.targets import matrix, parse
from touchstone.harness.tests.groups.lockstep import (
    Lockstep,
    address,
    against,
    apart,
    ask_until_ready,
    compare,
    create,
)
from touchstone.harness.tests.groups.sides import Side
from touchstone.reference_impl.wire.records import build

RELEASES = [release.name for release in matrix.releases()]
SLOTS, PARTITIONS = 2, 2
TIMEOUT_MS = 60_000
UNCOMMITTED, COMMITTED = 0, 1
ADDS_ITSELF, OWN_FORM, SAYS_WHO = 12, 3, 3  # versions of Produce and others
NAMES_THE_EPOCH = 2  # the newest EndTxn of releases that take no other epoch, at the least
CONFIG = {
    "group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
}  # fmt: skip
APIS = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn",
        "Produce", "DescribeTransactions")  # fmt: skip
slots = st.sampled_from([0, 0, 0, 0, 1])
drifts = st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1])  # of epochs and sequences
versions = st.integers(0, 59)  # counted round the range of an API
places = st.sets(st.integers(0, PARTITIONS - 1), min_size=1).map(sorted)


class Transactions(Lockstep):
    def __init__(self) -> None:
        super().__init__()
        self.owners = [[(-1, -1)] * SLOTS for _ in self.sides]  # (producer id, epoch), by side
        self.sequences: dict[tuple[int, int], int] = {}  # (slot, place) -> the next
        self.added: set[int] = set()
        for side in self.sides:
            create(side.control, self.group, PARTITIONS)
        self.alike(_seen, settled=_there)

    @initialize(draw=versions)
    def first(self, draw) -> None:
        self.begin(0, False, 0, draw)

    # --- rules -------------------------------------------------------------------------------

    @rule(slot=slots, known=st.booleans(), drift=drifts, draw=versions)
    def begin(self, slot, known, drift, draw) -> None:
        version = min(5, self.version(draw, "InitProducerId"))
        said = known and version >= OWN_FORM and self.owners[0][slot][0] >= 0
        answer = self._ask("InitProducerId", version, lambda side: {
            "transactional_id": side.group, "transaction_timeout_ms": TIMEOUT_MS,
            **(self._own(side, slot, drift) if said else {}),
        }, slot)  # fmt: skip
        if not answer["error_code"]:
            self.added.clear()
        self._settle(ended=True)

    @rule(slot=slots, drift=drifts, at=places, draw=versions)
    def add(self, slot, drift, at, draw) -> None:
        version = min(3, self.version(draw, "AddPartitionsToTxn"))

        def body(side: Side) -> dict[str, Any]:
            own = self._own(side, slot, drift)
            return {
                "v3_and_below_transactional_id": side.group,
                "v3_and_below_producer_id": own["producer_id"],
                "v3_and_below_producer_epoch": own["producer_epoch"],
                "v3_and_below_topics": [{"name": side.group, "partitions": at}],
            }

        answer = self.both("AddPartitionsToTxn", version, body)
        rows = answer["results_by_topic_v3_and_below"][0]["results_by_partition"]
        self.added |= {r["partition_index"] for r in rows if not r["partition_error_code"]}
        self._settle()

    @rule(slot=slots, drift=drifts, gap=drifts, place=st.integers(0, PARTITIONS - 1),
          draw=versions)  # fmt: skip
    def append(self, slot, drift, gap, place, draw) -> None:
        version = min(ADDS_ITSELF, max(OWN_FORM, self.version(draw, "Produce")))
        if place not in self.added and version < ADDS_ITSELF:
            return
        sequence = max(0, self.sequences.get((slot, place), 0) + gap)

        def body(side: Side) -> dict[str, Any]:
            own = self._own(side, slot, drift)
            records = build(
                2, [b"value"], timestamp=1, transactional=True, base_sequence=sequence, **own
            )
            row = {"index": place, "records": records}
            topics = [{"name": side.group, "partition_data": [row]}]
            return {"transactional_id": side.group, "acks": -1, "timeout_ms": 10_000,
                    "topic_data": topics}  # fmt: skip

        if self.owners[0][slot][0] < 0:
            return
        answer = self.both("Produce", version, body)
        if not answer["responses"][0]["partition_responses"][0]["error_code"]:
            self.sequences[slot, place] = sequence + 1
            self.added.add(place)
        self._settle()

    @rule(slot=slots, drift=drifts, draw=versions)
    def add_offsets(self, slot, drift, draw) -> None:
        version = self.version(draw, "AddOffsetsToTxn")
        self.both("AddOffsetsToTxn", version, lambda side: {
            "transactional_id": side.group, "group_id": side.group, **self._own(side, slot, drift),
        })  # fmt: skip
        self._settle()

    @rule(slot=slots, drift=drifts, offset=st.integers(0, 99), draw=versions)
    def send_offsets(self, slot, drift, offset, draw) -> None:
        version = self.version(draw, "TxnOffsetCommit")
        row = {"partition_index": 0, "committed_offset": offset, "committed_metadata": "",
               **({"committed_leader_epoch": -1} if version >= 2 else {})}  # fmt: skip
        who = {"member_id": "", "generation_id": -1, "group_instance_id": None}
        self.both("TxnOffsetCommit", version, lambda side: {
            "transactional_id": side.group, "group_id": side.group, **self._own(side, slot, drift),
            **(who if version >= SAYS_WHO else {}),
            "topics": [{"name": side.group, "partitions": [row]}],
        })  # fmt: skip
        self._settle()

    @rule(slot=slots, drift=drifts, commit=st.booleans(), draw=versions)
    def end(self, slot, drift, commit, draw) -> None:
        version = self.version(draw, "EndTxn")
        if self.versions["EndTxn"][1] < NAMES_THE_EPOCH:
            drift = min(drift, 0)  # a later epoch's is left half done: a claim of its own
        answer = self._ask("EndTxn", version, lambda side: {
            "transactional_id": side.group, "committed": commit, **self._own(side, slot, drift),
        }, slot)  # fmt: skip
        if not answer["error_code"]:
            self.added.clear()
        self._settle(ended=not answer["error_code"])

    @precondition(lambda self: "DescribeTransactions" in self.versions)
    @rule()
    def describe(self) -> None:
        self.both("DescribeTransactions", 0, lambda side: {"transactional_ids": [side.group]})

    # --- what they do ------------------------------------------------------------------------

    def _own(self, side: Side, slot: int, drift: int) -> dict[str, int]:
        producer_id, epoch = self.owners[self.sides.index(side)][slot]
        return {"producer_id": producer_id, "producer_epoch": max(0, epoch + drift)}

    def _ask(self, api: str, version: int, body, slot: int) -> dict[str, Any]:
        """Ask both; where that is answered with a producer id and epoch, these are the slot's."""
        answers = [ask_until_ready(side, api, version, body(side), raw=True) for side in self.sides]
        plain = [side.plain(answer) for side, answer in zip(self.sides, answers, strict=True)]
        assert plain[1] == plain[0], f"{api} {version}: {apart(*plain)}"
        for owners, answer in zip(self.owners, answers, strict=True):
            if not answer["error_code"] and answer.get("producer_id", -1) >= 0:
                owners[slot] = answer["producer_id"], answer["producer_epoch"]
                self.sequences = {k: v for k, v in self.sequences.items() if k[0] != slot}
        return plain[0]

    def _settle(self, *, ended: bool = False) -> None:
        self.agree(_seen, settled=_over if ended else bool)


def _seen(side: Side) -> dict[str, Any]:
    """What readers see: ends of the log, aborted transactions, offsets."""
    rows = [{"partition_index": i, "timestamp": -1} for i in range(PARTITIONS)]
    topics = [{"name": side.group, "partitions": rows}]
    ends = [
        side.ask("ListOffsets", 2, {"replica_id": -1, "isolation_level": level, "topics": topics})
        for level in (UNCOMMITTED, COMMITTED)
    ]
    asked = [{"partition": i, "fetch_offset": 0, "log_start_offset": -1,
              "partition_max_bytes": 1 << 20} for i in range(PARTITIONS)]  # fmt: skip
    fetched = side.ask("Fetch", 5, {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20,
        "isolation_level": COMMITTED, "topics": [{"topic": side.group, "partitions": asked}],
    })  # fmt: skip
    offsets = side.ask("OffsetFetch", 3, {
        "group_id": side.group, "topics": [{"name": side.group, "partition_indexes": [0]}],
    })  # fmt: skip
    read = [
        {key: value for key, value in row.items() if key != "records"}
        for topic in fetched["responses"] for row in topic["partitions"]
    ]  # fmt: skip
    return {"ends": [_ends(answer) for answer in ends], "read": read, "offsets": offsets}


def _ends(answer: dict[str, Any]) -> list[tuple[int, int]]:
    return [(row["error_code"], row["offset"]) for row in answer["topics"][0]["partitions"]]


def _there(seen: dict[str, Any]) -> bool:
    return all(code == 0 for level in seen["ends"] for code, _ in level)


def _over(seen: dict[str, Any]) -> bool:
    """Nothing is open: readers of committed records read to the end."""
    uncommitted, committed = seen["ends"]
    return uncommitted == committed


@pytest.mark.live
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("release", RELEASES)
def test_random_transactions_agree(release):
    compare(Transactions, release, APIS, config=CONFIG, topics={}, newest=ADDS_ITSELF)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("switch", ["aborted-visible", "marker-not-written"])
def test_a_planted_defect_of_transactions_is_found(switch):
    sound = parse("reference@4.3")
    try:
        first = ("sound", address(sound, CONFIG))
        # Hypothesis asks an example again; a marker may then come before somebody looks.
        with pytest.raises((AssertionError, FlakyFailure)):
            against(
                Transactions, first, f"4.3+{switch}", APIS,
                config=CONFIG, topics={}, newest=ADDS_ITSELF,
            )  # fmt: skip
    finally:
        sound.stop()
