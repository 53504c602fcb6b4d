"""acks on the wire, and what they give the application (PROD-01, PROD-46)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import Watch, a_topic, producer, sent, texts

ON_THE_WIRE = {"all": -1, "1": 1, "0": 0}


@claim("producer.acks-are-those-of-the-configuration", evidence=("PROD-01",), role="client",
       switches=("acks-always-1",), acks=("all", "1", "0"))  # fmt: skip
def test_acks_are_those_of_the_configuration(case):
    """Each Produce asks for the acknowledgements that acks names."""
    topic = case.topic()
    config = {"acks": case.acks} | ({} if case.acks == "all" else {"enable.idempotence": "false"})
    return case.scenario(
        a_topic(topic),
        producer(config=config),
        sent(topic, texts(3)),
        Watch("Produce", 1),
        expect=all_of(
            client("asked", api="Produce", path="acks").each_is(ON_THE_WIRE[case.acks]),
            client("events", name="producer_send_success", path="value").is_(texts(3)),
        ),
    )


@claim("producer.without-acks-no-offset-is-known", evidence=("PROD-46",), role="client",
       switches=("offset-guessed",))  # fmt: skip
def test_without_acks_no_offset_is_known(case):
    """With acks=0 a record is delivered without an offset, since no answer names one."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"acks": "0", "enable.idempotence": "false"}),
        sent(topic, texts(2)),
        expect=client("events", name="producer_send_success", path="offset").is_([-1, -1]),
    )


@claim("producer.a-delivered-record-has-its-offset", evidence=("PROD-46",),
       role="client", switches=("offset-guessed",))  # fmt: skip
def test_a_delivered_record_has_its_offset(case):
    """The application learns partition and offset of each record as the broker stored them."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 200}),
        sent(topic, texts(3), number=1),
        sent(topic, ["last"], number=2),
        expect=client("events", name="producer_send_success", path="offset").is_([0, 1, 2, 3]),
    )
