"""Planted defects of members of groups: subscriptions, rebalances, heartbeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from touchstone.harness.adapters.lying import (
    Liar,
    Rewrite,
    Row,
    answer,
    event,
    fields,
    request,
    requests,
    setting,
)
from touchstone.reference_impl.wire.embedded import consumer_protocol

HEARTBEAT = "ConsumerGroupHeartbeat"


def only_first(word: str) -> Callable[[], Rewrite]:
    """Commands of this name but the first one are passed over."""

    def make() -> Rewrite:
        seen: list[bool] = []

        def rewrite(row: Row) -> Row | None:
            if row["command"] != word:
                return row
            seen.append(True)
            return row if len(seen) == 1 else None

        return rewrite

    return make


def _all_revoked(row: Row) -> Row:
    """Four partitions are told, whatever is taken away."""
    if not row["partitions"]:
        return row
    topic = row["partitions"][0]["topic"]
    return row | {"partitions": [{"topic": topic, "partition": at} for at in range(4)]}


def _owns_nothing(body: Row) -> Row:
    for row in body["protocols"]:
        version, told, _ = consumer_protocol.decode_subscription(bytes(row["metadata"]))
        told = told | {"owned_partitions": []}
        row["metadata"] = consumer_protocol.encode_subscription(version, told)
    return body


def _turned(body: Row) -> Row:
    return body | {"protocols": body["protocols"][::-1]}


def _says_nothing_owned(body: Row) -> Row:
    return body | {"topic_partitions": None} if body["topic_partitions"] else body


def _for_good(body: Row) -> Row | None:
    return body | {"member_epoch": -1} if body["member_epoch"] == -2 else None


def renamed(name: str) -> Callable[[Row], dict[str, Any]]:
    return lambda row: row | {"name": name}


TABLE: Mapping[str, Liar] = {
    "first-subscription-kept": Liar("A subscription is never replaced.", only_first("subscribe")),
    "first-assignment-kept": Liar(
        "An assignment is told as replaced, and is not.",
        lambda: (
            lambda row: (
                row | {"partitions": [one | {"partition": 0} for one in row["partitions"][:1]]}
                if row["command"] == "assign"
                else row
            )
        ),
    ),
    "all-told-as-revoked": Liar(
        "Everything is told as revoked.", events=event("partitions_revoked", _all_revoked)
    ),
    "loss-told-as-revocation": Liar(
        "What is lost is told as revoked.",
        events=event("partitions_lost", renamed("partitions_revoked")),
    ),
    "owned-hidden": Liar(
        "A subscription names nothing that is owned.", requests=request("JoinGroup", _owns_nothing)
    ),
    "assignors-turned-round": Liar(
        "The last assignor is offered first.", requests=request("JoinGroup", _turned)
    ),
    "never-commits-by-itself": Liar(
        "Nothing is committed unasked.", setting("enable.auto.commit", "false", "consumer")
    ),
    "joins-under-no-id": Liar(
        "A member never names its id.",
        requests=requests("JoinGroup", HEARTBEAT, change=fields(member_id="")),
    ),
    "heartbeats-not-sent": Liar(
        "No heartbeat is sent.", requests=request("Heartbeat", lambda body: False)
    ),
    "interval-hidden": Liar(
        "A heartbeat is sent every 5 s.",
        answers=answer(HEARTBEAT, fields(heartbeat_interval_ms=5000)),
    ),
    "errors-of-server-side-heartbeats-hidden": Liar(
        "Errors of a server-side group's heartbeats are not looked at.",
        answers=answer(HEARTBEAT, fields(error_code=0)),
    ),
    "owned-not-said": Liar(
        "A member does not acknowledge its partitions.",
        requests=request(HEARTBEAT, _says_nothing_owned),
    ),
    "static-leaves-for-good": Liar(
        "A static member leaves as any other.", requests=request(HEARTBEAT, _for_good)
    ),
}
