"""What changed while a broker was away holds when it is back.

Sources: DynamicConfigManager.startup at 1.0.2 and 2.8.2 (every override is read before the first
notification is awaited), BrokerMetadataPublisher at 3.9 (the first image has all of them); clause
DYN-08.
"""

from harness.claim import claim
from harness.expect import all_of, answer
from harness.scenario import Until
from harness.steps import alter_configs, at_controller, start_broker
from suites.trio import DEATH, ONE, WRITTEN, placed, stopped, until_led, write

NONE, MESSAGE_TOO_LARGE = 0, 10
CODE, OFFSET = f"{WRITTEN}.error_code", f"{WRITTEN}.base_offset"


@claim("dynamic.a-broker-misses-no-change", evidence=("DYN-08", "DYN-10"), **DEATH)
def test_a_broker_misses_no_change(case):
    """A topic that was altered while its only broker was away is led by what it was altered to: not
    one batch is taken that the new limit refuses."""
    topic = case.topic()
    verdict = case.judge(
        placed(topic, {0: (1,)}),
        write(topic, b"x" * 200, name="before"),
        stopped(1, seen_by=0),
        alter_configs(topic, {"max.message.bytes": 100}, name="alter", **at_controller()),
        start_broker(1),
        until_led(case, topic, 1, (1,)),
        Until(write(topic, b"x" * 200, name="after"), CODE, "==", MESSAGE_TOO_LARGE),
        write(topic, ONE, name="small"),
        expect=all_of(
            answer("before", OFFSET).is_(0),
            answer("alter", "responses[0].error_code").is_(NONE),
            answer("small", OFFSET).is_(1),
        ),
    )
    assert verdict.conforms, verdict
