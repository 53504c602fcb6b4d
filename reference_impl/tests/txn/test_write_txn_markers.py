"""WriteTxnMarkers of many partitions: each code is taken once, not looked at after every other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from touchstone.reference_impl.broker.handlers import k27_write_txn_markers as markers


class Code(int):
    """An error code that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Code.compared += 1
        return int.__eq__(self, other) is True

    __hash__ = int.__hash__


class Writer:
    """Writes at once, or when it is told to."""

    def __init__(self) -> None:
        self.then = []

    def can_be_written(self, mark, topic, index):
        return True

    def write(self, topic, index, mark, now, then):
        self.then.append(then)


def asked(*names: str, indexes=(0,)):
    topics = [{"name": name, "partition_indexes": list(indexes)} for name in names]
    marker = {"producer_id": 7, "producer_epoch": 0, "transaction_result": True, "topics": topics}
    body = {"markers": [marker | {"coordinator_epoch": 0, "transaction_version": 0}]}
    return SimpleNamespace(body=body)


@pytest.mark.parametrize("many", [25, 100, 400])
def test_a_code_is_compared_with_nothing_while_others_are_awaited(many):
    writer, Code.compared = Writer(), 0
    wait = markers.handle(asked(*(f"t{at}" for at in range(many))), writer, 0)
    for then in writer.then:
        assert wait.ticket.answer is None
        then(Code(3), 0)
    (marker,) = wait.ticket.answer["markers"]
    assert (len(marker["topics"]), Code.compared) == (many, 0)


def test_a_partition_named_twice_is_written_and_answered_once():
    writer = Writer()
    wait = markers.handle(asked("t", "t"), writer, 0)
    for then in writer.then:
        then(0, 0)
    assert len(writer.then) == 1
    (marker,) = wait.ticket.answer["markers"]
    rows = [{"partition_index": 0, "error_code": 0}]
    assert marker == {"producer_id": 7, "topics": [{"name": "t", "partitions": rows}]}


def test_no_marker_is_answered_at_once():
    assert markers.handle(SimpleNamespace(body={"markers": []}), Writer(), 0) == {"markers": []}
