"""Configuration by Java's names: parsing, messages, warnings, and what a producer is made of it.

The rows and the messages are compared with the jars in
`harness/tests/clients/test_configs_of_the_jars.py`; here is what needs no Java.
"""

import logging

import pytest

from touchstone.reference_impl.client.configs.admin_config import admin_config, admin_options
from touchstone.reference_impl.client.configs.consumer_config import (
    consumer_config,
    consumer_options,
)
from touchstone.reference_impl.client.configs.definitions import RELEASES, definitions
from touchstone.reference_impl.client.configs.parsing import ConfigException, Password, parse
from touchstone.reference_impl.client.configs.producer_config import (
    producer_config,
    producer_options,
)
from touchstone.reference_impl.client.configs.validators import check
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.records import ZSTD

OURS = {"bootstrap.servers": "a:1", "key.serializer": bytes, "value.serializer": bytes}
READS = {"bootstrap.servers": "a:1", "key.deserializer": bytes, "value.deserializer": bytes}


def refused(make, given, release="4.3") -> str:
    with pytest.raises(ConfigException) as found:
        make(given, release)
    return str(found.value)


@pytest.mark.parametrize(
    "kind, text, value",
    [
        ("INT", " 17 ", 17),
        ("LONG", "+4", 4),
        ("DOUBLE", "1e2f", 100.0),
        ("BOOLEAN", "TRUE", True),
        ("LIST", " a ,b,  c", ["a", "b", "c"]),
        ("LIST", "", []),
        ("STRING", " x ", "x"),
    ],
)
def test_text_is_read_as_configdef_reads_it(kind, text, value):
    assert parse("n", text, kind) == value


def test_a_secret_does_not_show():
    secret = parse("n", " geheim ", "PASSWORD")
    assert isinstance(secret, Password) and secret.value == "geheim"
    assert "geheim" not in f"{secret} {secret!r}"


def test_every_row_s_default_has_its_type_and_passes_its_validator():
    for release in RELEASES:
        for kind in ("producer", "consumer", "admin"):
            for each in definitions(kind, release).values():
                if each.default is None or isinstance(each.default, (bool, int, float, str, list)):
                    if each.type != "CLASS":
                        assert parse(each.name, each.default, each.type) == each.default
                    check(each.name, each.default, each.valid)


def test_prod_01_acks_are_0_1_and_all():
    words = {"0": 0, "1": 1, "all": -1, "-1": -1}
    for text, meant in words.items():
        assert producer_options(producer_config(OURS | {"acks": text}))["acks"] == meant
    assert refused(producer_config, OURS | {"acks": "2"}) == (
        "Invalid value 2 for configuration acks: String must be one of: all, -1, 0, 1"
    )


def test_prod_02_defaults_are_those_of_the_release():
    old, new = producer_config(OURS, "1.0"), producer_config(OURS, "4.3")
    assert (old["retries"], old["linger.ms"], old["acks"]) == (0, 0, "1")
    assert not old["enable.idempotence"]
    assert (new["retries"], new["linger.ms"], new["acks"]) == (2147483647, 5, "-1")
    assert new["enable.idempotence"] and old["delivery.timeout.ms"] is None
    shared = {
        "batch.size": 16384, "buffer.memory": 33554432, "max.request.size": 1048576,
        "max.block.ms": 60000, "request.timeout.ms": 30000, "metadata.max.age.ms": 300000,
        "max.in.flight.requests.per.connection": 5, "connections.max.idle.ms": 540000,
        "retry.backoff.ms": 100, "compression.type": "none",
    }  # fmt: skip
    assert {name: old[name] for name in shared} == shared == {name: new[name] for name in shared}


def test_prod_03_a_producer_without_a_name_gets_a_number():
    first, second = (producer_config(OURS)["client.id"] for _ in range(2))
    numbers = [int(each.removeprefix("producer-")) for each in (first, second)]
    assert numbers[1] == numbers[0] + 1
    assert producer_config(OURS | {"transactional.id": "t"})["client.id"] == "producer-t"
    assert producer_config(OURS | {"client.id": ""})["client.id"] == ""
    assert producer_config(OURS | {"client.id": ""}, "1.0")["client.id"].startswith("producer-")


def test_prod_06_names_that_nobody_uses_are_logged_and_kept(caplog):
    given = OURS | {"retries.backoff.ms": 9, "send.buffer.bytes": 1, "linger.ms": 3}
    with caplog.at_level(logging.WARNING, "touchstone.client.configs"):
        found = producer_config(given)
        assert producer_options(found)["linger_ms"] == 3
        assert found.originals["retries.backoff.ms"] == 9
        producer_options(producer_config(given, "2.8"))
    assert [each.getMessage() for each in caplog.records] == [
        "These configurations '[retries.backoff.ms]' were supplied but are not used yet.",
        "The configuration 'send.buffer.bytes' is not obeyed by this client.",
        "The configuration 'retries.backoff.ms' was supplied but isn't a known config.",
        "The configuration 'send.buffer.bytes' is not obeyed by this client.",
    ]


def test_prod_08_idempotence_raises_what_is_unset_and_refuses_conflicts():
    old = producer_config(OURS | {"enable.idempotence": True}, "1.0")
    assert (old["acks"], old["retries"]) == ("-1", 2147483647)
    relaxed = producer_config(OURS | {"acks": "1"})
    assert not relaxed["enable.idempotence"]  # nobody asked for it: it gives way
    asked = OURS | {"enable.idempotence": True}
    for release in RELEASES:
        assert "Must set acks to all" in refused(producer_config, asked | {"acks": "1"}, release)
        never = asked | {"retries": 0}
        assert "Must set retries to non-zero" in refused(producer_config, never, release)
        six = asked | {"max.in.flight.requests.per.connection": 6}
        assert "at most 5" in refused(producer_config, six, release)
        off = OURS | {"enable.idempotence": False, "transactional.id": "t"}
        assert "Cannot set a transactional.id" in refused(producer_config, off, release)


def test_what_is_required_and_what_is_doubled(caplog):
    assert refused(producer_config, {"bootstrap.servers": "a:1"}) == (
        'Missing required configuration "key.serializer" which has no default value.'
    )
    twice = producer_config(OURS | {"bootstrap.servers": "a:1,b:2,a:1"})
    assert twice["bootstrap.servers"] == ["a:1", "b:2"]
    assert "contains duplicate values" in caplog.text


def test_a_delivery_timeout_covers_linger_and_request(caplog):
    short = {"delivery.timeout.ms": 10}
    assert "should be equal to or larger" in refused(producer_config, OURS | short)
    long = producer_config(OURS | {"request.timeout.ms": 130_000})
    assert long["delivery.timeout.ms"] == 130_005
    assert "Setting it to 130005." in caplog.text


def test_a_consumer_is_made_of_its_configuration():
    group = READS | {"group.id": "g", "auto.commit.interval.ms": "70"}
    options = consumer_options(consumer_config(group))
    assert options["auto_commit_ms"] == 70
    assert options["assignors"] == ["range", "cooperative-sticky"]
    assert "auto_commit_ms" not in consumer_options(consumer_config(READS))
    newer = consumer_options(
        consumer_config(READS | {"group.id": "g", "group.protocol": "consumer"})
    )
    assert "session_timeout_ms" not in newer and newer["assignor"] is None


def test_an_admin_client_is_made_of_its_configuration():
    found = admin_config({"bootstrap.servers": "a:1", "request.timeout.ms": 9})
    assert admin_options(found) == {"timeout_ms": 9}


def test_the_client_takes_configurations_and_keywords_win():
    with Client("127.0.0.1:1") as client:
        producer = client.producer({"linger.ms": "7", "compression.type": "zstd"}, retries=9)
        core = producer.core
        assert (core.linger_ms, core.compression, core.retries) == (7, ZSTD, 9)
        assert client.producer().core.linger_ms == 0
        consumer = client.consumer([("t", 0)], config={"isolation.level": "read_committed"})
        assert consumer.core.isolation == 1
