"""Members that send in transactions: begin, a few sends to several partitions, commit or abort.

Written from requests rather than with a transactional client, so that each step's end is known as
it is: a commit whose answer is lost is asked again with the same producer id and epoch, which a
coordinator takes as the same commit (KIP-98), and is unknown when nobody answers at all. Whatever
goes wrong otherwise ends in an abort, then in a new epoch, which fences what may still be under way
(KIP-360). Versions stay below those of KIP-890's second part, where a commit changes the epoch.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from harness.driver.crowd.member import Member
from reference_impl.client.flow import ANY, Ask, ClientError, Failed, KafkaError, Pause
from reference_impl.client.metadata import STALE, View, know, refresh
from reference_impl.io.client import Client
from reference_impl.wire.errors import ErrorCode, is_retriable
from reference_impl.wire.records.batch import Record, encode_batch

_COORDINATOR_MOVED = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE}
)
_AGAIN_MS = 100
_IDENTITY = ("transactional_id", "producer_id", "producer_epoch")
_TRANSACTION = 1  # FindCoordinator's key type


class GaveUp(ClientError):
    """No answer, or none but retriable errors, until it was too late."""


class Transactions:
    """The requests of one transactional id, as flows."""

    def __init__(self, view: View, name: str, patience_ms: int) -> None:
        self.view, self.name, self.patience_ms = view, name, patience_ms
        self.coordinator: int | None = None
        self.producer: tuple[int, int] = (-1, -1)
        self.sequences: dict[tuple[str, int], int] = {}

    def new_epoch(self) -> Generator:
        """InitProducerId: ends what an earlier self left open, fences its stragglers."""
        body = {"transactional_id": self.name, "transaction_timeout_ms": self.patience_ms}
        answer = yield from self._ask("InitProducerId", body, (0, 4))
        self.producer = answer["producer_id"], answer["producer_epoch"]
        self.sequences.clear()

    def add(self, places: list[tuple[str, int]]) -> Generator:
        topics = [{"name": t, "partitions": [p for s, p in places if s == t]} for t, _ in places]
        topics = list({row["name"]: row for row in topics}.values())
        body = {**self._mine("v3_and_below_"), "v3_and_below_topics": topics}
        yield from self._ask("AddPartitionsToTxn", body, (0, 3))

    def send(self, where: tuple[str, int], values: list[str]) -> Generator:
        """One batch; the offset of its first record."""
        sequence = self.sequences.get(where, 0)
        self.sequences[where] = sequence + len(values)
        records = encode_batch(
            [Record(i, 0, None, value.encode(), ()) for i, value in enumerate(values)],
            base_timestamp=self.view.now, producer_id=self.producer[0],
            producer_epoch=self.producer[1], base_sequence=sequence, transactional=True,
        )  # fmt: skip
        give_up = self.view.now + self.patience_ms
        while True:
            row = yield from self._produced(where, records)
            code = row.get("error_code", ErrorCode.REQUEST_TIMED_OUT)
            if not code:
                return row["base_offset"]
            if not (is_retriable(code) or code in STALE) or self.view.now >= give_up:
                raise KafkaError(code, about="{}-{}".format(*where))
            yield Pause(self.view.now + _AGAIN_MS)
            yield from refresh(self.view, [where[0]], timeout_ms=self.patience_ms)

    def finish(self, commit: bool) -> Generator:
        yield from self._ask("EndTxn", {**self._mine(), "committed": commit}, (0, 3))

    def _mine(self, prefix: str = "") -> dict[str, Any]:
        """Who we are, in the fields of a request."""
        rows = zip(_IDENTITY, (self.name, *self.producer), strict=True)
        return {prefix + field: value for field, value in rows}

    def _produced(self, where: tuple[str, int], records: bytes) -> Generator:
        topic, partition = where
        yield from know(self.view, [topic], timeout_ms=self.patience_ms)
        leader = self.view.leader(topic, partition)
        if leader is None:
            return {}
        rows = [{"index": partition, "records": records}]
        body = {
            "transactional_id": self.name, "acks": -1, "timeout_ms": self.patience_ms,
            "topic_data": [{"name": topic, "partition_data": rows}],
        }  # fmt: skip
        ask = Ask(leader.leader, "Produce", body, timeout_ms=self.patience_ms, versions=(3, 11))
        (outcome,) = yield [ask]
        if isinstance(outcome, Failed):
            return {}
        return outcome.body["responses"][0]["partition_responses"][0]

    def _find(self) -> Generator:
        body = {"key": self.name, "key_type": _TRANSACTION}
        (outcome,) = yield [Ask(ANY, "FindCoordinator", body, self.patience_ms, (1, 3))]
        if not isinstance(outcome, Failed) and not outcome.body["error_code"]:
            self.coordinator = outcome.body["node_id"]
            if self.view.resolve(self.coordinator) is None:
                yield from refresh(self.view, [], timeout_ms=self.patience_ms)

    def _ask(self, api: str, body: dict[str, Any], versions: tuple[int, int]) -> Generator:
        """The coordinator's answer without an error, however often it takes to get one."""
        give_up = self.view.now + self.patience_ms
        while True:
            if self.coordinator is None:
                yield from self._find()
            code, said = ErrorCode.COORDINATOR_NOT_AVAILABLE, None
            if self.coordinator is not None:
                ask = Ask(self.coordinator, api, body, self.patience_ms, versions)
                (said,) = yield [ask]
                code = _error(said)
            if not code:
                return said.body
            if code in _COORDINATOR_MOVED:
                self.coordinator = None
            elif not is_retriable(code) and code != ErrorCode.CONCURRENT_TRANSACTIONS:
                raise KafkaError(code, about=api)
            if self.view.now >= give_up:
                raise GaveUp(f"{api}: {said.reason if isinstance(said, Failed) else code}")
            yield Pause(self.view.now + _AGAIN_MS)


def _error(outcome) -> int:
    """The first error in an answer of the coordinator; a lost one is as if it had moved."""
    if isinstance(outcome, Failed):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    rows = outcome.body.get("results_by_topic_v3_and_below") or ()
    codes = [part["partition_error_code"] for row in rows for part in row["results_by_partition"]]
    return next((code for code in (outcome.body.get("error_code", 0), *codes) if code), 0)


class TransactionalProducer(Member):
    """One transactional id; every turn is a transaction."""

    sent = transactions = 0

    def begin(self, client: Client) -> None:
        self.run_flow = client.run
        self.core = Transactions(client.view, f"{self.plan.topics[0]}.{self.name}",
                                 self.plan.request_ms)  # fmt: skip

    def turn(self) -> None:
        if self.core.producer[0] < 0:
            self.run_flow(self.core.new_epoch())
        self.transactions += 1
        name = f"{self.name}:{self.transactions}"
        self.recorder.end(self.recorder.begin(self.name, "begin", transaction=name))
        places = self.random.sample(self.plan.places, min(2, len(self.plan.places)))
        whole = self._send_all(name, places)
        self._finish(name, commit=whole and self.random.random() < 0.7)
        self.over.wait(self.plan.pause_s)

    def _send_all(self, name: str, places: list[tuple[str, int]]) -> bool:
        try:
            self.run_flow(self.core.add(places))
            for where in places:
                self._send(name, where, self.random.randint(1, 3))
        except ClientError:
            return False
        return True

    def _send(self, name: str, where: tuple[str, int], count: int) -> None:
        values = [f"{self.name}.{self.sent + i + 1}" for i in range(count)]
        self.sent += count
        numbers = [
            self.recorder.begin(
                self.name, "send", topic=where[0], partition=where[1], value=value, acks=-1,
                idempotent=True, transaction=name,
            )
            for value in values
        ]  # fmt: skip
        try:
            offset = self.run_flow(self.core.send(where, values))
        except ClientError as error:
            for number in numbers:
                self.recorder.end(number, "unknown", error=str(error)[:120])
            raise
        for at, number in enumerate(numbers):
            self.recorder.end(number, "ok", offset=offset + at)

    def _finish(self, name: str, *, commit: bool) -> None:
        number = self.recorder.begin(self.name, "commit" if commit else "abort", transaction=name)
        try:
            self.run_flow(self.core.finish(commit))
        except ClientError as error:
            self.recorder.end(number, "unknown", error=str(error)[:120])
            self.core.producer = (-1, -1)
        else:
            self.recorder.end(number, "ok")
            if not commit:
                self.core.producer = (-1, -1)  # a broken one may have left a gap in its sequences
