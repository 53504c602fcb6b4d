"""confluent-kafka on a broker in the test's own process."""

from confluent_kafka import Consumer, Producer


def test_a_group_reads_what_was_produced(kafka_cluster, kafka_topic):
    producer = Producer({"bootstrap.servers": kafka_cluster.bootstrap})
    producer.produce(kafka_topic, key=b"customer 7", value=b"order 1")
    assert producer.flush(10) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": kafka_cluster.bootstrap,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([kafka_topic])
    record = consumer.poll(10)
    consumer.close()
    assert (record.key(), record.value()) == (b"customer 7", b"order 1")
