"""What changed while a broker was away holds when it is back, and where it was meant to hold.

Sources: DynamicConfigManager.startup at 1.0.2 and 2.8.2 (every override is read before the first
notification is awaited), BrokerMetadataPublisher at 3.9 (the first image has all of them),
DynamicBrokerConfig.updatedConfigs at 2.2.1 (what was taken away is no change) and 2.8.2; clauses
DYN-08, DYN-14.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import BROKER, alter_configs, at_controller, start_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    WRITTEN,
    on,
    placed,
    read,
    refused,
    stopped,
    stored,
    until_led,
    write,
)

CODE, OFFSET = f"{WRITTEN}.error_code", f"{WRITTEN}.base_offset"


@claim("dynamic.a-broker-misses-no-change", evidence=("DYN-08", "DYN-10"), **SHORT_SESSIONS)
def test_a_broker_misses_no_change(case):
    """A broker that was down while a topic's max.message.bytes was lowered refuses a larger batch
    with MESSAGE_TOO_LARGE as soon as it leads the topic again."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: (1,)}),
        write(topic, b"x" * 200, name="before"),
        stopped(1, seen_by=0),
        alter_configs(topic, {"max.message.bytes": 100}, name="alter", **at_controller()),
        start_broker(1),
        until_led(case, topic, 1, (1,)),
        Until(write(topic, b"x" * 200, name="after"), CODE, "==", ErrorCode.MESSAGE_TOO_LARGE),
        write(topic, ONE, name="small"),
        expect=all_of(
            answer("before", OFFSET).is_(0),
            answer("alter", "responses[0].error_code").is_(ErrorCode.NONE),
            answer("after", CODE).is_(ErrorCode.MESSAGE_TOO_LARGE),
            answer("small", OFFSET).is_(1),
        ),
    )


@claim("dynamic.a-brokers-default-is-its-own", evidence=("DYN-14", "KIP-226"),
       **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_a_brokers_default_is_its_own(case):
    """A message.max.bytes that is set for one broker limits the topics which that broker leads and
    no others."""
    own, other = case.topic("own"), case.topic("other")
    limit = {"message.max.bytes": 100}
    how = {"kind": BROKER, "broker": 1}
    return case.scenario(
        placed(own, {0: (1,)}),
        placed(other, {0: (2,)}),
        alter_configs("1", limit, name="set", **how),
        Until(write(own, b"x" * 200, name="here"), CODE, "==", ErrorCode.MESSAGE_TOO_LARGE),
        write(other, b"x" * 200, to=2, name="elsewhere"),
        alter_configs("1", {}, name="back", **how),
        expect=all_of(stored("elsewhere", 0), refused("here", ErrorCode.MESSAGE_TOO_LARGE)),
    )


@claim("dynamic.a-default-goes-when-it-is-taken-back", evidence=("DYN-14", "KIP-226"),
       **on("2.2-2.8", SHORT_SESSIONS_UNHARMED))  # fmt: skip
def test_a_default_goes_when_it_is_taken_back(case):
    """A min.insync.replicas that is set for one broker holds for the topics it leads until it is
    removed; 2.2 goes on using it until another value is set."""
    own, second, other = (case.topic(word) for word in ("own", "second", "other"))
    how = {"kind": BROKER, "broker": 1}
    after = write(second, ONE, name="after")
    return case.scenario(
        placed(own, {0: (1,)}),
        placed(second, {0: (1,)}),
        placed(other, {0: (2,)}),
        alter_configs("1", {"min.insync.replicas": 2}, name="set", **how),
        Until(write(own, ONE, name="here"), CODE, "==", ErrorCode.NOT_ENOUGH_REPLICAS),
        read(other, at=2, name="until all logs know", max_wait_ms=500),  # they hear of it in turn
        write(second, ONE, name="there"),
        write(other, ONE, to=2, name="elsewhere"),
        alter_configs("1", {}, name="taken back", **how),
        read(other, 1, at=2, name="meanwhile", max_wait_ms=1500),
        Until(after, CODE, "==", ErrorCode.NONE) if case.release == "2.8" else after,
        alter_configs("1", {"min.insync.replicas": 1}, name="said", **how),
        Until(write(second, TWO, name="again"), CODE, "==", ErrorCode.NONE),
        alter_configs("1", {}, name="back", **how),
        expect=all_of(
            refused("there", ErrorCode.NOT_ENOUGH_REPLICAS),
            stored("elsewhere", 0),
            by_release(
                {
                    "2.2": all_of(
                        refused("after", ErrorCode.NOT_ENOUGH_REPLICAS), stored("again", 0)
                    ),
                    "2.8": all_of(stored("after", 0), stored("again", 1)),
                }
            ),
        ),
    )
