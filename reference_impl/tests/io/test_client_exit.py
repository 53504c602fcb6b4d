"""Leaving `with Client(...)` delivers what its producers still hold, as closing Java's does."""

from __future__ import annotations

import asyncio

import pytest

from touchstone.reference_impl.io.aio import Client as AioClient
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

LINGERS = {"linger.ms": 60_000}


@pytest.fixture(scope="module")
def bootstrap():
    with serve() as running:
        with Client(running.bootstrap) as client:
            client.admin.create_topic("words")
        yield running.bootstrap


def test_a_lingering_record_is_delivered(bootstrap):
    with Client(bootstrap) as client:
        sent = client.producer(LINGERS).send("words", b"x")
        assert not sent.done
    assert (sent.done, sent.error) == (True, None)


def test_also_where_an_error_ends_the_block(bootstrap):
    with pytest.raises(RuntimeError), Client(bootstrap) as client:
        sent = client.producer(LINGERS).send("words", b"x")
        raise RuntimeError
    assert (sent.done, sent.error) == (True, None)


def test_nobody_who_interrupts_waits(bootstrap):
    with pytest.raises(KeyboardInterrupt), Client(bootstrap) as client:
        sent = client.producer(LINGERS).send("words", b"x")
        raise KeyboardInterrupt
    assert not sent.done


def test_the_asynchronous_client_delivers_as_well(bootstrap):
    async def sent():
        async with AioClient(bootstrap) as client:
            return client.producer(LINGERS).send("words", b"x")

    assert asyncio.run(sent()).done
