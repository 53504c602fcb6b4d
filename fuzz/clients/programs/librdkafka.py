"""confluent-kafka (librdkafka) in a client campaign."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

from touchstone.fuzz.clients.programs.session import Session, play

PACE_S = 0.1


def once(session: Session) -> None:
    common: dict[str, Any] = {
        "bootstrap.servers": session.bootstrap, "socket.timeout.ms": 3000,
        "reconnect.backoff.max.ms": 500, "topic.metadata.refresh.interval.ms": 2000,
        "error_cb": session.report, "log_level": 0,
    }  # fmt: skip
    producer = Producer(
        {**common, "enable.idempotence": True, "message.timeout.ms": 4000, "linger.ms": 0}
    )
    consumer = Consumer(
        {
            **common,
            "group.id": session.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 6000,
            "fetch.wait.max.ms": 100,
            "auto.commit.interval.ms": 200,
        }  # fmt: skip
    )

    def delivered(problem: Any, _message: Any) -> None:
        if problem is None:
            session.note(acknowledged=True)
        else:
            session.report(problem)

    try:
        consumer.subscribe([session.topic])
        while not session.stopped.is_set():
            producer.produce(session.topic, b"a record", on_delivery=delivered)
            producer.poll(0)
            message = consumer.poll(PACE_S)
            if message is None:
                continue
            if message.error():
                session.report(message.error())
            else:
                session.note(read=True)
    finally:
        producer.purge()
        consumer.close()


if __name__ == "__main__":
    play(once, (KafkaException, BufferError))
