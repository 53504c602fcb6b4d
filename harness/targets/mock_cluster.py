"""librdkafka's mock cluster, as `librdkafka-mock.toml` starts it.

    python -m touchstone.harness.targets.mock_cluster --brokers 3 --racks a,b,c

It prints "ready HOST:PORT,..." and serves until SIGTERM. The client library that `confluent-kafka`
brings is asked by its C interface (rdkafka_mock.h): what its setting `test.mock.num.brokers` makes
is the same cluster, but has no racks and no settings.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys

import click

PRODUCER = 0  # rd_kafka_type_t; the mock cluster lives in a client, of whatever kind
FIRST = 1  # the id of the first broker
# Kafka's names of what can be set -> the function that sets it, in ms.
SETTINGS = {
    "group.initial.rebalance.delay.ms": "rd_kafka_mock_group_initial_rebalance_delay_ms",
    "group.consumer.session.timeout.ms": "rd_kafka_mock_set_group_consumer_session_timeout_ms",
    "group.consumer.heartbeat.interval.ms": (
        "rd_kafka_mock_set_group_consumer_heartbeat_interval_ms"
    ),
}


@click.command()
@click.option("--brokers", type=int, default=1)
@click.option("--racks", default="", help="One for each broker, separated by commas.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="A broker setting.")
def serve(brokers: int, racks: str, given: tuple[str, ...]) -> None:
    """Run the mock cluster until SIGTERM; it chooses its ports and prints them."""
    library = _library()
    cluster = _cluster(library, brokers)
    for node, rack in enumerate(filter(None, racks.split(",")), FIRST):
        library.rd_kafka_mock_broker_set_rack(cluster, node, rack.encode())
    for pair in given:
        name, _, value = pair.partition("=")
        getattr(library, SETTINGS[name])(cluster, int(value))
    print("ready", library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)  # destroying the client waits for its threads, and nobody needs them


def _library() -> ctypes.CDLL:
    """The C library that the Python client is linked to, with what is called of it."""
    found = ctypes.CDLL(importlib.import_module("confluent_kafka.cimpl").__file__)
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in (
        ("rd_kafka_conf_new", pointer, []),
        ("rd_kafka_conf_set", ctypes.c_int, [pointer, text, text, text, ctypes.c_size_t]),
        ("rd_kafka_new", pointer, [ctypes.c_int, pointer, text, ctypes.c_size_t]),
        ("rd_kafka_mock_cluster_new", pointer, [pointer, ctypes.c_int]),
        ("rd_kafka_mock_cluster_bootstraps", text, [pointer]),
        ("rd_kafka_mock_broker_set_rack", ctypes.c_int, [pointer, ctypes.c_int32, text]),
        *((setter, None, [pointer, ctypes.c_int]) for setter in SETTINGS.values()),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


def _cluster(library: ctypes.CDLL, brokers: int) -> int:
    said = ctypes.create_string_buffer(512)
    made = library.rd_kafka_conf_new()
    library.rd_kafka_conf_set(made, b"log_level", b"0", said, len(said))
    client = library.rd_kafka_new(PRODUCER, made, said, len(said))
    cluster = library.rd_kafka_mock_cluster_new(client, brokers) if client else None
    if not cluster:
        sys.exit(f"error: librdkafka starts no mock cluster: {said.value.decode()}")
    return int(cluster)


if __name__ == "__main__":
    serve()
