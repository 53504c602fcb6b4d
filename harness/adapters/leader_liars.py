"""Planted defects of clients that keep to old leaders, old metadata, old epochs (KIP-320)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.harness.adapters.lying import (
    Liar,
    Lie,
    Mishear,
    Row,
    answer,
    planted,
    request,
    setting,
)
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

METADATA, PRODUCE, FETCH = (by_name(name).key for name in ("Metadata", "Produce", "Fetch"))
NOBODY = {"leader_id": -1, "leader_epoch": -1}
FAR = 1 << 40


def _first_leaders() -> Mishear:
    """Leaders are those that the first answer named, and no error names another one (KIP-951)."""
    first: dict[tuple[Any, int], tuple[int, int]] = {}

    def mishear(key: int, body: Row) -> Row:
        if key == METADATA:
            for topic in body["topics"]:
                for part in topic["partitions"]:
                    now = part["leader_id"], part.get("leader_epoch", -1)
                    known = first.setdefault((topic["name"], part["partition_index"]), now)
                    part["leader_id"] = known[0]
                    if "leader_epoch" in part:
                        part["leader_epoch"] = known[1]
        elif key in (PRODUCE, FETCH):
            for topic in body["responses"]:
                for part in topic.get("partition_responses") or topic.get("partitions") or ():
                    if "current_leader" in part:
                        part["current_leader"] = dict(NOBODY)
        return body

    return mishear


def _metadata_asked_once() -> Lie:
    asked: list[bool] = []

    def lie(key: int, version: int, one: headers.Request) -> Row | bool | None:
        if key != METADATA:
            return None
        asked.append(True)
        return None if len(asked) == 1 else False

    return lie


def _led_by_one(body: Row) -> Row:
    for topic in body["topics"]:
        for part in topic["partitions"]:
            part["leader_id"] = 0
    return body


def _in_rows(body: Row, rows: str, **values: Any) -> Row:
    for topic in body["topics"]:
        for part in topic[rows]:
            part.update({key: value for key, value in values.items() if key in part})
    return body


TABLE: Mapping[str, Liar] = {
    "leaders-hidden": Liar("Leaders are those of the first answer.", answers=_first_leaders),
    "metadata-asked-once": Liar("Metadata is asked once.", requests=_metadata_asked_once),
    "metadata-kept": Liar(
        "Metadata is not renewed for five minutes.", setting("metadata.max.age.ms", "300000")
    ),
    "all-asked-of-one": Liar(
        "Every partition is asked of one broker.", answers=answer("Metadata", _led_by_one)
    ),
    "epochs-not-asked": Liar(
        "No leader is asked where an epoch ended.",
        requests=request("OffsetForLeaderEpoch", lambda body: False),
    ),
    "truncation-hidden": Liar(
        "Where an epoch ended is not looked at.",
        answers=answer(
            "OffsetForLeaderEpoch", lambda body: _in_rows(body, "partitions", end_offset=FAR)
        ),
    ),
    "ignores-truncation": Liar(
        "No new leader is asked whether it has what was read.",
        planted("ignores-truncation", "consumer"),
    ),
    "epoch-of-leader-not-named": Liar(
        "A Fetch names no leader epoch.",
        requests=request(
            "Fetch", lambda body: _in_rows(body, "partitions", current_leader_epoch=-1)
        ),
    ),
    "epoch-of-commit-not-named": Liar(
        "A commit names no leader epoch.",
        requests=request(
            "OffsetCommit", lambda body: _in_rows(body, "partitions", committed_leader_epoch=-1)
        ),
    ),
}
