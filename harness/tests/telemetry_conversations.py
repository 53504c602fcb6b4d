"""Ids of client metrics that are drawn: honest answers, legal ones, and faults.

Rows as in test_normalize: an honest conversation, a change that is allowed, and changes that look
like it and are faults.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.tests.conversations import conversation

NOBODY, ONE, OTHER = (bytes([*bytes(15), last]) for last in (0, 7, 8))


def _asked(label: str, client: bytes, subscription: int) -> Any:
    answer = {"error_code": 0, "client_instance_id": client, "subscription_id": subscription}
    return (label, "GetTelemetrySubscriptions", 0, {"client_instance_id": NOBODY}, answer)


def _clients(first: bytes, second: bytes) -> Any:
    return conversation(_asked("asked", first, 5), _asked("again", second, 5))


def _subscriptions(first: int, second: int) -> Any:
    return conversation(_asked("asked", ONE, first), _asked("again", ONE, second))


DIFFERENCES = {
    "client-instances": (
        _clients(ONE, ONE),
        _clients(OTHER, OTHER),
        [_clients(ONE, OTHER), _clients(NOBODY, NOBODY), _clients(ONE, NOBODY)],
    ),
    "subscription-ids": (
        _subscriptions(5, 6),
        _subscriptions(-7, 9),
        [_subscriptions(5, 5), _subscriptions(0, 6), _subscriptions(5, 0)],
    ),
}
