"""message.format.version above what brokers speak among themselves (until 2.8).

Sources: TopicConfigHandler.processConfigChanges at 1.0.2, 2.2.1 and 2.8.2; clause DYN-11.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, batches
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, alter_configs, fetch, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch

CODE = "responses[0].partition_responses[0].error_code"
OLD = {"inter.broker.protocol.version": "0.10.2", "log.message.format.version": "0.10.2"}
LONG_VALUE = b"x" * 500


@claim(
    "dynamic.a-format-above-the-protocol-is-left-out",
    evidence=("DYN-11", "DYN-10"),
    releases="1.0-2.8",
    config=OLD,
    format=("1.0", "0.10.2"),
)
def test_a_format_above_the_protocol_is_left_out(case):
    """AlterConfigs of a topic to a message.format.version newer than inter.broker.protocol.version
    answers no error; the topic keeps its format, and the other settings of the request apply."""
    topic = case.topic()
    altered = {"message.format.version": case.format, "message.timestamp.type": "LogAppendTime"}
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": 100}),
        alter_configs(topic, altered, name="alter"),
        Until(produce(topic, 0, batch(LONG_VALUE), name="write"), CODE, "==", 0),
        fetch(topic, name="read"),
        expect=all_of(
            answer("alter", "responses[0].error_code").is_(ErrorCode.NONE),
            batches("read", "[0].magic").is_(1),
            answer("write", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "dynamic.a-format-of-a-new-topic-holds",
    evidence=("DYN-11", "observed on 1.0.2"),
    releases="1.0-2.8",
    config=OLD,
)
def test_a_format_of_a_new_topic_holds(case):
    """A topic that is created with a message.format.version newer than
    inter.broker.protocol.version stores batches in that format."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"message.format.version": "1.0"}),
        produce(topic, 0, batch(b"x"), name="write"),
        fetch(topic, name="read"),
        expect=batches("read", "[0].magic").is_(2),
    )
