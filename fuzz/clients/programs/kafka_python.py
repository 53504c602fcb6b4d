"""kafka-python in a client campaign."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.errors import KafkaError

import logging

from touchstone.fuzz.clients.programs.session import Session, play

PACE_MS = 100


def once(session: Session) -> None:
    common = {
        "bootstrap_servers": [session.bootstrap], "request_timeout_ms": 3000,
        "reconnect_backoff_max_ms": 500, "metadata_max_age_ms": 2000, "retry_backoff_ms": 50,
    }  # fmt: skip
    producer = KafkaProducer(**common, max_block_ms=4000, delivery_timeout_ms=4000, linger_ms=0)
    try:
        consumer = KafkaConsumer(
            session.topic, **(common | {"request_timeout_ms": 7000}), group_id=session.group,
            auto_offset_reset="earliest", session_timeout_ms=6000, fetch_max_wait_ms=100,
            auto_commit_interval_ms=200,
        )  # fmt: skip
    except BaseException:
        producer.close(timeout=1)
        raise
    try:
        while not session.stopped.is_set():
            sent = producer.send(session.topic, b"a record")
            sent.add_callback(lambda _: session.note(acknowledged=True))
            sent.add_errback(session.report)
            if consumer.poll(PACE_MS):
                session.note(read=True)
    finally:
        producer.close(timeout=1)
        consumer.close()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    play(once, (KafkaError,))
