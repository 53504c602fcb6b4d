"""Client quotas on a broker without sockets: whose, for how long, and who is not read."""

import pytest

from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.tests.broker.one_broker import NOW, WAITING, OneBroker, batch
from touchstone.reference_impl.wire.headers import decode_response, encode_request

PRODUCE, FETCH, METADATA = 0, 1, 3
SIZE = 20_000
LIMIT = 1000.0  # bytes in a second: 10 000 in the ten that count


def limited(release="4.3", limit=LIMIT, *, who=None, key="producer_byte_rate", **how):
    one = OneBroker(release, **how)
    one.topic()
    who = {"client-id": "c"} if who is None else who
    one.cluster.client_settings.set_quotas(entity(who), {key: limit})
    return one


def produce(one, client="c", *, size=SIZE, version=7):
    part = {"index": 0, "records": batch(b"x" * size)}
    body = {"transactional_id": None, "acks": 1, "timeout_ms": 1000}
    body["topic_data"] = [{"name": "t", "partition_data": [part]}]
    return sent(one, PRODUCE, version, body, client)


def fetch(one, client="c"):
    part = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20}
    body |= {"isolation_level": 0, "session_id": 0, "session_epoch": -1}
    body |= {"topics": [{"topic": "t", "partitions": [part]}], "forgotten_topics_data": []}
    return sent(one, FETCH, 11, body, client)


def sent(one, key, version, body, client="c", connection=None):
    frame = encode_request(key, version, 3, client, body)
    effects = one.send(frame, connection=connection)
    return decoded(key, version, effects)


def decoded(key, version, effects):
    if not effects:
        return WAITING
    return decode_response(key, version, b"".join(effects[0].parts)).body


def metadata(one, connection=None):
    body = {"topics": [], "allow_auto_topic_creation": False}
    return sent(one, METADATA, 4, body, "c", connection)


def test_who_is_above_is_told_how_long_to_wait():
    """Twice of what ten seconds allow is as much again: ten seconds."""
    answer = produce(limited())
    assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0
    assert 10_000 < answer["throttle_time_ms"] < 11_000


def test_who_is_below_is_not():
    one = limited()
    assert produce(one, size=9000)["throttle_time_ms"] == 0
    assert produce(one, "another")["throttle_time_ms"] == 0


def test_a_rate_forgets():
    one = limited()
    assert produce(one, size=9000)["throttle_time_ms"] == 0
    one.now += 11_000
    assert produce(one, size=9000)["throttle_time_ms"] == 0


def test_a_connection_is_not_read_until_its_time_is_over():
    one, other = limited(), Connection(2)
    wait = produce(one)["throttle_time_ms"]
    assert metadata(one) == WAITING
    assert metadata(one, other)["throttle_time_ms"] == 0
    assert one.brokers[0].deadline() == NOW + wait
    assert decoded(METADATA, 4, one.brokers[0].tick(NOW + wait))["brokers"]


def test_1_0_keeps_the_answer_back():
    one = limited("1.0", who={"client-id": None})
    assert produce(one, version=5) == WAITING
    at = one.brokers[0].deadline()
    answer = decoded(PRODUCE, 5, one.brokers[0].tick(at))
    assert answer["throttle_time_ms"] == at - NOW > 0


def test_a_fetch_above_its_rate_carries_nothing():
    one = limited(key="consumer_byte_rate")
    one.store(batch(b"x" * SIZE))
    answer = fetch(one)
    assert answer["throttle_time_ms"] > 0
    assert answer["responses"] == []


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ({"client-id": None}, {"client-id": "c"}),
        ({"client-id": "c"}, {"user": "ANONYMOUS"}),
        ({"user": None}, {"user": "ANONYMOUS"}),
        ({"user": "ANONYMOUS"}, {"user": "ANONYMOUS", "client-id": "c"}),
    ],
)
def test_the_most_specific_holds(general, specific):
    one = limited(who=general)
    one.cluster.client_settings.set_quotas(entity(specific), {"producer_byte_rate": 1e9})
    assert produce(one)["throttle_time_ms"] == 0


def test_a_user_shares_a_rate_and_clients_do_not():
    users, clients = limited(who={"user": "ANONYMOUS"}), limited(who={"client-id": None})
    for one in (users, clients):
        produce(one, "first", size=9000)
    assert produce(users, "second", size=9000)["throttle_time_ms"] > 0
    assert produce(clients, "second", size=9000)["throttle_time_ms"] == 0


def test_a_broker_setting_is_the_default():
    one = OneBroker("2.8", **{"quota.producer.default": "1000"})
    one.topic()
    assert produce(one)["throttle_time_ms"] > 0


def test_a_broker_that_forgets_its_quotas_is_noticed():
    assert produce(limited(switches=("quotas-ignored",)))["throttle_time_ms"] == 0
