"""aiokafka in a client campaign."""

from __future__ import annotations

import asyncio
import logging

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from touchstone.fuzz.clients.programs.session import Session, play

PACE_MS = 100


async def work(session: Session) -> None:
    common = {
        "bootstrap_servers": session.bootstrap, "request_timeout_ms": 3000,
        "retry_backoff_ms": 50, "metadata_max_age_ms": 2000,
    }  # fmt: skip
    producer = AIOKafkaProducer(**common, enable_idempotence=True)
    consumer = AIOKafkaConsumer(
        session.topic, **common, group_id=session.group, auto_offset_reset="earliest",
        session_timeout_ms=6000, fetch_max_wait_ms=100, auto_commit_interval_ms=200,
    )  # fmt: skip
    try:
        await asyncio.wait_for(producer.start(), 8)
        await asyncio.wait_for(consumer.start(), 8)
        while not session.stopped.is_set():
            try:
                await asyncio.wait_for(producer.send_and_wait(session.topic, b"a record"), 5)
                session.note(acknowledged=True)
            except (KafkaError, TimeoutError) as problem:
                session.report(problem)
            if await consumer.getmany(timeout_ms=PACE_MS):
                session.note(read=True)
    finally:
        for closing in (producer.stop(), consumer.stop()):
            try:
                await asyncio.wait_for(closing, 8)
            except (KafkaError, TimeoutError) as problem:
                session.report(problem)


def once(session: Session) -> None:
    asyncio.run(work(session))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    play(once, (KafkaError, TimeoutError))
