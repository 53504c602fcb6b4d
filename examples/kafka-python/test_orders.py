"""kafka-python on a broker that spoils answers, and on one whose time the test advances."""

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from touchstone import Rule


def test_a_producer_tries_again(kafka_cluster, kafka_topic, kafka_faults):
    kafka_faults.add(Rule(action="error", api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=2))
    producer = KafkaProducer(bootstrap_servers=kafka_cluster.bootstrap, retry_backoff_ms=10)
    assert producer.send(kafka_topic, b"order 1").get(timeout=10).offset == 0
    producer.close()
    assert [rule.hits for rule in kafka_faults.standing()] == [2]


@pytest.mark.kafka(shared=False, settings={"log.retention.ms": 60_000})
def test_orders_are_forgotten(kafka_cluster, kafka_topic):
    producer = KafkaProducer(bootstrap_servers=kafka_cluster.bootstrap)
    producer.send(kafka_topic, b"order 1").get(timeout=10)
    producer.close()
    kafka_cluster.advance(10 * 60_000)  # milliseconds
    consumer = KafkaConsumer(bootstrap_servers=kafka_cluster.bootstrap)
    partition = TopicPartition(kafka_topic, 0)
    assert consumer.beginning_offsets([partition]) == {partition: 1}
    consumer.close()
