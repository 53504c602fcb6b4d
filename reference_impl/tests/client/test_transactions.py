"""The transactional producer against made-up coordinators: what is asked, and what errors do."""

import random

import pytest

from touchstone.reference_impl.client.flow import ClientError, Failed, KafkaError
from touchstone.reference_impl.client.transactions import (
    Aborted,
    Fenced,
    State,
    TransactionalProducer,
)
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E

from .scripted import Runner, metadata, topic, view

TOPIC = topic("t", 0, 1)
MEMBER = {
    "group_id": "g",
    "generation_id": 3,
    "member_id": "m",
    "group_instance_id": None,
}


class Coordinators:
    """Answers by `plan[api]`, then with success; `level` is the cluster's transaction.version."""

    def __init__(self, level: int = 0, *, init_version: int = 5, **plan):
        self.level = level
        self.init_version = init_version
        self.plan = {api: list(codes) for api, codes in plan.items()}
        self.epoch = -1
        self.batches: list[tuple[int, int, int, bool]] = []

    def __call__(self, ask):
        code = (self.plan.get(ask.api) or [0]).pop(0)
        if isinstance(code, str):
            return Failed(ask, code, "planned")
        return getattr(self, f"_{ask.api}")(ask.body, code)

    def _Metadata(self, body, code):
        return metadata(TOPIC)

    def _FindCoordinator(self, body, code):
        return {"error_code": code, "node_id": body["key_type"], "host": "h", "port": 9}

    def _ApiVersions(self, body, code):
        row = {"name": "transaction.version", "max_version_level": self.level}
        return {"error_code": 0, "finalized_features": [row]}

    def _InitProducerId(self, body, code):
        if not code:
            self.epoch += 1
        return {"error_code": code, "producer_id": 7, "producer_epoch": self.epoch}

    def _AddPartitionsToTxn(self, body, code):
        rows = [
            {"partition_index": i, "partition_error_code": code}
            for i in body["v3_and_below_topics"][0]["partitions"]
        ]
        if code and len(rows) > 1:
            rows[0]["partition_error_code"] = E.OPERATION_NOT_ATTEMPTED
        return {"results_by_topic_v3_and_below": [{"name": "t", "results_by_partition": rows}]}

    def _AddOffsetsToTxn(self, body, code):
        return {"error_code": code}

    def _TxnOffsetCommit(self, body, code):
        row = {"partition_index": 0, "error_code": code}
        return {"topics": [{"name": "t", "partitions": [row]}]}

    def _EndTxn(self, body, code):
        if self.level < 2 or code:
            return {"error_code": code}
        self.epoch += 1
        return {"error_code": 0, "producer_id": 7, "producer_epoch": self.epoch}

    def _Produce(self, body, code):
        rows = []
        for part in body["topic_data"][0]["partition_data"]:
            header = R.read_header(part["records"])
            place = part["index"], header.producer_epoch, header.base_sequence
            self.batches.append((*place, header.transactional))
            rows.append({"index": part["index"], "error_code": code, "base_offset": 5})
        return {"responses": [{"name": "t", "partition_responses": rows}]}


class Versions(Runner):
    """InitProducerId is answered in the version that the coordinators have."""

    def _answer(self, ask):
        answer = super()._answer(ask)
        if ask.api == "InitProducerId" and not isinstance(answer, Failed):
            return type(answer)(ask, self.script.init_version, answer.body)
        return answer


def producing(script: Coordinators, **options) -> tuple[TransactionalProducer, Versions]:
    seen = view(TOPIC)
    producer = TransactionalProducer(seen, "id", randrange=random.Random(1).randrange, **options)
    runner = Versions(seen, script)
    runner.run(producer.init())
    return producer, runner


def apis(runner) -> list[str]:
    return [ask.api for ask in runner.asks if ask.api not in ("FindCoordinator", "Metadata")]


def begun(script: Coordinators, *partitions: int):
    producer, runner = producing(script)
    producer.begin()
    sent = [producer.send("t", b"v", partition=index) for index in partitions or (0,)]
    return producer, runner, sent


def test_a_transaction_of_the_first_version_tells_coordinators_beforehand():
    script = Coordinators()
    producer, runner, (sent, _) = begun(script, 0, 1)
    runner.run(producer.send_offsets({("t", 0): 4}, MEMBER))
    runner.run(producer.commit())
    assert apis(runner) == [
        "InitProducerId", "ApiVersions", "AddOffsetsToTxn", "TxnOffsetCommit",
        "AddPartitionsToTxn", "Produce", "Produce", "EndTxn",
    ]  # fmt: skip
    assert sent.result().offset == 5
    assert script.batches == [(0, 0, 0, True), (1, 0, 0, True)]
    assert [ask.node for ask in runner.asked("TxnOffsetCommit")] == [0]
    assert [ask.node for ask in runner.asked("EndTxn")] == [1]
    assert runner.asked("TxnOffsetCommit")[0].body["generation_id"] == 3
    assert max(ask.versions[1] for ask in runner.asked("Produce")) == 11
    assert runner.asked("EndTxn")[0].versions[1] == 4
    producer.begin()
    producer.send("t", b"w", partition=0)
    runner.run(producer.commit())
    assert script.batches[-1] == (0, 0, 1, True)


def test_a_transaction_of_the_second_version_begins_with_its_first_batch():
    script = Coordinators(2)
    producer, runner, _ = begun(script)
    runner.run(producer.send_offsets({("t", 0): 4}, MEMBER))
    runner.run(producer.commit())
    assert apis(runner) == ["InitProducerId", "ApiVersions", "TxnOffsetCommit", "Produce", "EndTxn"]
    assert producer.producer_epoch == 1
    producer.begin()
    producer.send("t", b"w", partition=0)
    runner.run(producer.commit())
    assert script.batches == [(0, 0, 0, True), (0, 1, 0, True)]


def test_an_empty_transaction_ends_without_a_word():
    producer, runner = producing(Coordinators())
    for end in (producer.commit, producer.abort):
        producer.begin()
        runner.run(end())
    assert "EndTxn" not in apis(runner)


def test_what_was_not_sent_before_an_abort_never_is():
    script = Coordinators()
    producer, runner, (sent,) = begun(script)
    runner.run(producer.abort())
    with pytest.raises(Aborted):
        sent.result()
    assert not script.batches
    assert producer.state is State.READY


@pytest.mark.parametrize(
    "api", ["InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"]
)
@pytest.mark.parametrize(
    ("code", "lookups"),
    [
        (E.CONCURRENT_TRANSACTIONS, 2),
        (E.COORDINATOR_LOAD_IN_PROGRESS, 2),
        (E.NOT_COORDINATOR, 3),
        (E.COORDINATOR_NOT_AVAILABLE, 3),
        ("closed", 3),
    ],
)
def test_coordinators_are_asked_again(api, code, lookups):
    producer, runner, _ = begun(Coordinators(**{api: [code]}))
    runner.run(producer.send_offsets({("t", 0): 4}, MEMBER))
    runner.run(producer.commit())
    assert producer.state is State.READY
    assert apis(runner).count(api) == 2
    assert len(runner.asked("FindCoordinator")) == lookups


@pytest.mark.parametrize("api", ["AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"])
@pytest.mark.parametrize("code", [E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH])
def test_a_fenced_producer_is_over(api, code):
    producer, runner, _ = begun(Coordinators(**{api: [code]}))
    with pytest.raises(Fenced):
        runner.run(producer.send_offsets({("t", 0): 4}, "g"))
        runner.run(producer.commit())
    for call in (producer.abort, producer.commit):
        with pytest.raises(Fenced):
            runner.run(call())
    with pytest.raises(Fenced):
        producer.begin()


@pytest.mark.parametrize(
    ("api", "code"),
    [
        ("AddPartitionsToTxn", E.TOPIC_AUTHORIZATION_FAILED),
        ("AddPartitionsToTxn", E.TRANSACTION_ABORTABLE),
        ("AddOffsetsToTxn", E.GROUP_AUTHORIZATION_FAILED),
        ("TxnOffsetCommit", E.ILLEGAL_GENERATION),
        ("TxnOffsetCommit", E.UNKNOWN_MEMBER_ID),
        ("TxnOffsetCommit", E.FENCED_INSTANCE_ID),
        ("Produce", E.MESSAGE_TOO_LARGE),
        ("Produce", E.INVALID_PRODUCER_EPOCH),
        ("EndTxn", E.TRANSACTION_ABORTABLE),
    ],
)
def test_what_only_ends_the_transaction_is_aborted(api, code):
    script = Coordinators(**{api: [code]})
    producer, runner, _ = begun(script)
    with pytest.raises(KafkaError, match=code.name):
        runner.run(producer.send_offsets({("t", 0): 4}, "g"))
        runner.run(producer.commit())
    assert producer.state is State.FAILED
    with pytest.raises(KafkaError, match=code.name):
        runner.run(producer.commit())
    runner.run(producer.abort())
    producer.begin()
    producer.send("t", b"w", partition=0)
    runner.run(producer.commit())
    bumped = api == "Produce"
    assert script.epoch == (1 if bumped else 0)
    assert script.batches[-1][1:3] == ((1, 0) if bumped else (0, script.batches[-1][2]))


def test_a_batch_of_unknown_fate_needs_an_epoch_that_old_brokers_cannot_give():
    script = Coordinators(init_version=1, Produce=[E.MESSAGE_TOO_LARGE])
    producer, runner, _ = begun(script)
    with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
        runner.run(producer.commit())
    assert producer.state is State.OVER


def test_an_error_that_nobody_knows_is_the_end():
    producer, runner, _ = begun(Coordinators(EndTxn=[E.INVALID_TXN_STATE]))
    with pytest.raises(KafkaError, match="INVALID_TXN_STATE"):
        runner.run(producer.commit())
    assert producer.state is State.OVER


@pytest.mark.parametrize("level", [0, 2])
def test_a_commit_that_nobody_answered_is_committed_again(level):
    script = Coordinators(level, EndTxn=["closed"] * 40)
    producer, runner, _ = begun(script)
    producer.max_block_ms = 3_000
    with pytest.raises(ClientError, match="closed"):
        runner.run(producer.commit())
    assert producer.state is State.COMMITTING
    with pytest.raises(ClientError, match="commit again"):
        runner.run(producer.abort())
    script.plan.clear()
    runner.run(producer.commit())
    assert producer.state is State.READY


def test_a_partition_that_may_be_in_is_left_by_a_new_epoch():
    script = Coordinators(AddPartitionsToTxn=["closed"] * 40)
    producer, runner, (sent,) = begun(script)
    producer.max_block_ms = 2_000
    with pytest.raises(ClientError, match="closed"):
        runner.run(producer.commit())
    assert sent.error is not None
    script.plan.clear()
    runner.run(producer.abort())
    assert "EndTxn" not in apis(runner)
    assert runner.asked("InitProducerId")[-1].body["producer_epoch"] == 0
    assert producer.producer_epoch == 1


def test_calls_out_of_order_are_mistakes():
    producer = TransactionalProducer(view(TOPIC), "id", randrange=lambda n: 0)
    runner = Versions(producer.view, Coordinators())
    for call in (producer.begin, lambda: producer.send("t", b"v")):
        with pytest.raises(ClientError, match="init comes first"):
            call()
    runner.run(producer.init())
    with pytest.raises(ClientError, match="begin comes next"):
        runner.run(producer.commit())
    with pytest.raises(ClientError, match="begin comes next"):
        runner.run(producer.init())
    with pytest.raises(ClientError, match="PROD-08"):
        TransactionalProducer(view(TOPIC), "id", randrange=lambda n: 0, idempotence=False)


def test_a_split_batch_goes_on_with_the_sequence_it_had():
    script = Coordinators(Produce=[E.MESSAGE_TOO_LARGE])
    producer, runner, _ = begun(script, 0, 0)
    runner.run(producer.commit())
    assert script.batches == [(0, 0, 0, True), (0, 0, 0, True), (0, 0, 1, True)]
