"""Clients ask which metrics to send and send them: at their interval, and only what is wanted.

The answers are those of 3.9.2 and 4.3.1 to the same requests.
"""

from __future__ import annotations

import gzip

import pytest

from touchstone.reference_impl.broker.data.telemetry_subscriptions import Subscription, wanted
from touchstone.reference_impl.tests.replication.wires import Wires
from touchstone.reference_impl.wire.errors import ErrorCode as E

ME = bytes.fromhex("00000050000000000000000000003039")
MINUTES = 60_000


class Clients(Wires):
    """A broker that is asked by one client, on one connection unless told otherwise."""

    def __init__(self, release: str = "4.3") -> None:
        super().__init__(release)
        self.run(MINUTES)

    def say(self, api: str, body: dict, version: int = 0):
        client = self.send(0, api, version, body)
        self.run(1)
        self.client = client
        return self.answer(client, api, version)

    def asks(self, who: bytes = ME):
        answer = self.say("GetTelemetrySubscriptions", {"client_instance_id": who})
        if answer["error_code"]:
            return E(answer["error_code"])
        return answer["subscription_id"], answer["push_interval_ms"], answer["requested_metrics"]

    def pushes(self, number: int, who: bytes = ME, *, ends: bool = False, packed: int = 0,
               metrics: bytes = b"abc") -> E:  # fmt: skip
        body = {
            "client_instance_id": who, "subscription_id": number, "terminating": ends,
            "compression_type": packed, "metrics": metrics,
        }  # fmt: skip
        return E(self.say("PushTelemetry", body)["error_code"])

    def subscribes(self, **configs: str) -> None:
        told = {name.replace("_", "."): value for name, value in configs.items()}
        self.cluster.metrics_configs["s"] = told

    def listed(self) -> set[int]:
        body = {"client_software_name": "a", "client_software_version": "1"}
        return {row["api_key"] for row in self.say("ApiVersions", body, 3)["api_keys"]}


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_client_without_a_subscription_is_to_send_nothing_every_five_minutes(release):
    clients = Clients(release)
    assert clients.asks() == (-725128265, 5 * MINUTES, [])
    assert clients.asks() == E.THROTTLING_QUOTA_EXCEEDED
    assert clients.pushes(-725128265) == E.NONE
    assert clients.pushes(-725128265) == E.THROTTLING_QUOTA_EXCEEDED
    clients.run(5 * MINUTES)
    assert clients.asks() == (-725128265, 5 * MINUTES, [])
    body = {"client_instance_id": bytes(16)}
    given = clients.say("GetTelemetrySubscriptions", body)["client_instance_id"]
    assert given != bytes(16)


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_reserved_ids_push_nothing(release):
    clients = Clients(release)
    assert clients.pushes(1, bytes(16)) == E.INVALID_REQUEST
    assert clients.pushes(1, bytes(15) + b"\1") == E.INVALID_REQUEST


@pytest.mark.parametrize(("release", "again"), [("3.9", False), ("4.3", True)])
def test_who_is_told_of_an_unknown_subscription_may_ask_again(release, again):
    clients = Clients(release)
    clients.asks()
    assert clients.pushes(7) == E.UNKNOWN_SUBSCRIPTION_ID
    asked = clients.asks()
    assert asked == ((-725128265, 5 * MINUTES, []) if again else E.THROTTLING_QUOTA_EXCEEDED)


def test_a_changed_subscription_is_told_at_once():
    clients = Clients()
    clients.asks()
    clients.subscribes(metrics="org.apache.kafka.,a.b,zz", interval_ms="100")
    asked = clients.asks()
    assert asked == (1728346837, 100, ["zz", "org.apache.kafka.", "a.b"])
    clients.subscribes(metrics="*", interval_ms="100")
    assert clients.asks() == (899599560, 100, ["*"])
    clients.subscribes(metrics="*", match="client_software_name=nobody")
    assert clients.asks() == (-725128265, 5 * MINUTES, [])


def test_an_expression_that_backtracks_is_matched_in_linear_time():
    """`re` would take 2**60 steps for it: a client id is a peer's, and so is a subscription."""
    clients = Clients()
    clients.subscribes(metrics="*", interval_ms="100", match="client_software_name=(.+)+!")
    assert clients.asks()[1:] == (5 * MINUTES, [])
    subscription = Subscription.of({"match": "client_id=(a+)+b", "metrics": "m"})
    assert not subscription.matches({"client_id": "a" * 60})
    assert subscription.matches({"client_id": "a" * 60 + "b"})


@pytest.mark.parametrize("pattern", ["(?=a)a", "(a)\\1", "a++", "(?<!a)b", "[", "(?>a)"])
def test_an_expression_that_needs_backtracking_is_refused(pattern):
    clients = Clients()
    config = {"name": "match", "config_operation": 0, "value": f"client_id={pattern}"}
    resource = {"resource_type": 16, "resource_name": "s", "configs": [config]}
    body = {"resources": [resource], "validate_only": False}
    answer = clients.say("IncrementalAlterConfigs", body, 1)
    assert answer["responses"][0]["error_code"] == E.INVALID_CONFIG
    assert not clients.cluster.metrics_configs


def test_what_is_pushed_is_checked_and_handed_over():
    clients = Clients()
    clients.subscribes(metrics="*", interval_ms="100")
    number, _, _ = clients.asks()
    received: list[tuple[bytes, bool, bytes]] = []
    assert clients.listed().isdisjoint({71, 72})
    clients.cluster.telemetry_receivers.append(lambda *told: received.append(told))
    assert clients.listed() >= {71, 72}

    def next_push(**how) -> E:
        clients.run(100)
        return clients.pushes(number, **how)

    assert next_push(packed=9) == E.UNSUPPORTED_COMPRESSION_TYPE
    assert next_push(packed=1, metrics=b"no gzip") == E.INVALID_RECORD
    assert next_push(packed=1, metrics=gzip.compress(bytes(3 << 20))) == E.INVALID_RECORD
    assert next_push(metrics=bytes((1 << 20) + 1)) == E.TELEMETRY_TOO_LARGE
    assert next_push(metrics=b"") == E.NONE
    assert received == []
    assert next_push(packed=1, metrics=gzip.compress(b"m")) == E.NONE
    assert clients.pushes(number, ends=True) == E.NONE, "a last one is not throttled"
    assert received == [(ME, False, b"m"), (ME, True, b"abc")]
    assert next_push() == E.INVALID_REQUEST, "it had said that it ends"


def test_a_receiver_that_fails_is_told_to_the_client(caplog):
    clients = Clients()
    number, _, _ = clients.asks()

    def broken(client: bytes, ends: bool, data: bytes) -> None:
        raise OSError("the disk is full")

    clients.cluster.telemetry_receivers.append(broken)
    assert clients.pushes(number) == E.INVALID_RECORD
    assert "a receiver of client metrics failed" in caplog.text


@pytest.mark.parametrize(("release", "forgotten"), [("3.9", False), ("4.3", True)])
def test_a_client_goes_with_the_connection_that_it_came_with(release, forgotten):
    clients = Clients(release)
    clients.asks()
    clients.brokers[0].closed(clients.client)
    clients.run(1)
    asked = clients.asks()
    assert asked == ((-725128265, 5 * MINUTES, []) if forgotten else E.THROTTLING_QUOTA_EXCEEDED)


def test_a_client_is_forgotten_after_three_intervals():
    clients = Clients("3.9")
    number, _, _ = clients.asks()
    assert clients.pushes(number, ends=True) == E.NONE
    clients.run(15 * MINUTES - 10)
    assert clients.pushes(number) == E.INVALID_REQUEST
    clients.run(15 * MINUTES)
    assert clients.pushes(number) == E.NONE


def test_all_subscriptions_that_match_count():
    like = {"client_id": "app-1", "client_source_port": "9", "client_software_name": None}
    subscriptions = [
        Subscription.of({"metrics": "a", "interval.ms": "500", "match": "client_id=app-.*"}),
        Subscription.of({"metrics": "b,a", "interval.ms": "700"}),
        Subscription.of({"metrics": "c", "match": "client_id=app"}),
        Subscription.of({"metrics": "d", "match": "client_software_name=.*"}),
    ]
    found = wanted(subscriptions, ME, like)
    assert (found.metrics, found.interval_ms) == (("a", "b"), 500)
