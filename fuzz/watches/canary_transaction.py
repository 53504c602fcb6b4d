"""Transactions are whole: committed ones are shown in every partition, aborted ones in none.

One transactional producer writes to two partitions, and commits and aborts in turn. Afterwards a
reader of committed records is shown what was committed, and an end in the name of the epoch before
is refused once another producer has taken the name over (KIP-98).
"""

from __future__ import annotations

from touchstone.fuzz.watches.readers import read_committed
from touchstone.fuzz.watches.topics import create, delete, ends, produce
from touchstone.fuzz.watches.watch import CANARY, Played, Watch, Watched, Wrong, error_code, name_of
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Struct

TOPIC = f"{CANARY}-transactions"
NAME = f"{CANARY}-producer"
PARTITIONS = (0, 1)
TIMEOUT_MS = 60_000
FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)  # older, newer versions


def codes_of_partitions(body: Struct) -> int:
    rows = [row for topic in body["results_by_topic_v3_and_below"]
            for row in topic["results_by_partition"]]  # fmt: skip
    return next(
        (int(row["partition_error_code"]) for row in rows if row["partition_error_code"]), 0
    )


class CanaryTransaction(Watch):
    every_s = 1.0

    def before(self, target: Watched) -> None:
        self.target, self.asker = target, target.asker()
        create(self.asker, TOPIC, partitions=len(PARTITIONS))
        self.asker.once("FindCoordinator", 1, {"key": NAME, "key_type": 1})  # creates the topic
        self.begin()
        self.sequence = self.rounds = 0
        self.committed: list[str] = []

    def begin(self) -> None:
        body = {"transactional_id": NAME, "transaction_timeout_ms": TIMEOUT_MS}
        answer = self.asker.until("InitProducerId", 0, body, error_code)
        _must_be_none("InitProducerId", answer["error_code"])
        self.id, self.epoch = answer["producer_id"], answer["producer_epoch"]

    def check(self, now: float) -> str | None:
        commit, value = self.rounds % 2 == 0, f"{self.rounds:09}"
        self.rounds += 1
        self._add()
        for partition in PARTITIONS:
            batch = build(
                2, [(b"canary", value.encode())], timestamp=1_700_000_000_000, transactional=True,
                producer_id=self.id, producer_epoch=self.epoch, base_sequence=self.sequence,
            )  # fmt: skip
            row = produce(self.asker, TOPIC, partition, batch, NAME)
            if row is None:
                return "Produce in a transaction is not answered"
            _must_be_none("Produce in a transaction", row["error_code"])
        self.sequence += 1
        _must_be_none("EndTxn", self._end(self.epoch, commit))
        if commit:
            self.committed.append(value)
        return None

    def _add(self) -> None:
        body = {
            "v3_and_below_transactional_id": NAME, "v3_and_below_producer_id": self.id,
            "v3_and_below_producer_epoch": self.epoch,
            "v3_and_below_topics": [{"name": TOPIC, "partitions": list(PARTITIONS)}],
        }  # fmt: skip
        answer = self.asker.until("AddPartitionsToTxn", 0, body, codes_of_partitions)
        _must_be_none("AddPartitionsToTxn", codes_of_partitions(answer))

    def _end(self, epoch: int, commit: bool) -> int:
        body = {
            "transactional_id": NAME, "producer_id": self.id, "producer_epoch": epoch,
            "committed": commit,
        }  # fmt: skip
        return int(self.asker.until("EndTxn", 0, body, error_code)["error_code"])

    def after(self, now: float, played: Played) -> str | None:
        old = self.epoch
        self.begin()  # ends what is open, so that nothing below the end is undecided
        code = self._end(old, True)
        if code not in FENCED:
            return f"EndTxn of an epoch that is over is not fenced, it answers {name_of(code)}"
        for partition in PARTITIONS:
            _, end = ends(self.asker, TOPIC, partition)
            shown = [
                value for _, value in read_committed(self.target.bootstrap, TOPIC, partition, end)
            ]
            if shown != self.committed:
                wrong = set(shown) ^ set(self.committed)
                return (
                    f"{TOPIC}-{partition}: {len(self.committed)} transactions were committed, a"
                    f" reader is shown {len(shown)} records; {sorted(wrong)[:3]} differ"
                )
        delete(self.asker, TOPIC)
        return None

    def figures(self) -> str:
        return f"{self.rounds} transactions, {len(self.committed)} of them committed"


def _must_be_none(what: str, code: int) -> None:
    if code:
        raise Wrong(f"{what} answers {name_of(code)}")
