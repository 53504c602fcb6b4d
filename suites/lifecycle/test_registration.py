"""How brokers register and deregister: ids, advertised addresses, sessions that expire.

Sources: KafkaHealthcheck and KafkaZkClient.reconnect (1.0.2 to 2.8.2), BrokerLifecycleManager and
ClusterControlManager.unregisterBroker (3.9.2, 4.3.1), KIP-631; clauses BRK-11, BRK-18, BRK-19,
BRK-29, BRK-31, WIRE-15.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, answered
from touchstone.harness.model.scenario import Ask, Await, Until
from touchstone.harness.model.steps import (
    api_versions,
    metadata,
    pause_broker,
    resume_broker,
    start_broker,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    PART,
    SHORT_SESSIONS,
    a_log,
    look,
    on,
    stored,
    until_led,
    write,
)

IDS = "brokers[*].node_id"
PORTS = "brokers[*].port"


def unregister(broker, *, name="unregister"):
    return Ask("UnregisterBroker", 0, {"broker_id": broker}, name, broker=0)


@claim(
    "lifecycle.a-lost-session-is-followed-by-another",
    evidence=("BRK-31", "CTL-18"),
    **SHORT_SESSIONS,
)
def test_a_lost_session_is_followed_by_another(case):
    """A broker paused beyond its session timeout loses its registration; resumed, it registers
    again and follows the new leader.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (2, 1), ONE),
        pause_broker(2),
        Until(metadata(broker=0, name="without"), "brokers", "len ==", 2),
        until_led(case, name, 1, [1], "taken over"),
        write(name, TWO),
        resume_broker(2),
        Until(metadata(broker=0, name="again"), "brokers", "len ==", 3),
        until_led(case, name, 1, [1, 2], "followed"),
        expect=all_of(
            answer("without", IDS).is_one_of([0, 1], [1, 0]),
            stored("write", 1),
            answer("again", "brokers").has_length(3),
        ),
    )


@claim("lifecycle.what-came-before-the-end-is-answered", evidence=("WIRE-15", "BRK-32"),
       **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_what_came_before_the_end_is_answered(case):
    """A broker answers the requests that it received before its shutdown began. (1.0 and 2.2 may
    drop those not yet begun: the network stops before the handlers.)
    """
    name = case.topic()
    writes = [write(name, TWO, acks=1, name=f"sent {n}") for n in range(3)]
    return case.scenario(
        a_log(name, (1, 2), ONE),
        [sent(one) for one in writes],
        stop_broker(1),
        [Await(one.name) for one in writes],
        expect=all_of(*(stored(one.name, n + 1) for n, one in enumerate(writes))),
    )


@claim("lifecycle.who-is-named-controller-is-there", evidence=("META-08", "KIP-590"),
       api="DescribeCluster", **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_who_is_named_controller_is_there(case):
    """KRaft brokers name a live broker as controller, never one that has stopped.
    (KRaftMetadataCache.getRandomAliveBroker)
    """
    return case.scenario(
        stop_broker(0),
        Until(metadata(broker=1, name="told"), "brokers", "len ==", 2),
        Ask("DescribeCluster", case.version, {}, "described", broker=1),
        expect=all_of(
            answer("told", "controller_id").is_one_of(1, 2),
            answer("described", "controller_id").is_one_of(1, 2),
        ),
    )


@claim("lifecycle.a-broker-that-is-gone-can-be-forgotten", evidence=("KIP-631",),
       api="UnregisterBroker", **on("3.9+", SHORT_SESSIONS))  # fmt: skip
def test_a_broker_that_is_gone_can_be_forgotten(case):
    """UnregisterBroker of a stopped broker succeeds once, then answers BROKER_ID_NOT_REGISTERED;
    its replicas stay assigned, and it rejoins the ISR when it returns.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1], "alone"),
        unregister(2),
        unregister(2, name="twice"),
        look(case, name, "forgotten"),
        start_broker(2),
        until_led(case, name, 1, [1, 2], "back"),
        expect=all_of(
            answer("unregister", "error_code").is_(ErrorCode.NONE),
            answer("twice", "error_code").is_(ErrorCode.BROKER_ID_NOT_REGISTERED),
            answer("forgotten", f"{PART}.replica_nodes").is_([1, 2]),
            answer("back", f"{PART}.isr_nodes").is_([1, 2]),
        ),
    )


@claim("lifecycle.who-never-came-cannot-be-forgotten", evidence=("KIP-631",),
       api="UnregisterBroker", releases="3.9+", broker=(-1, 7))  # fmt: skip
def test_who_never_came_cannot_be_forgotten(case):
    """UnregisterBroker of a broker id that was never registered answers
    BROKER_ID_NOT_REGISTERED.
    """
    asked = Ask("UnregisterBroker", case.version, {"broker_id": case.broker}, "unregister")
    return case.scenario(
        asked, expect=answer("unregister", "error_code").is_(ErrorCode.BROKER_ID_NOT_REGISTERED)
    )


@claim("lifecycle.a-port-that-is-open-is-advertised", evidence=("BRK-11",),
       config={"advertised.listeners": "PLAINTEXT://127.0.0.1:0"})  # fmt: skip
def test_a_port_that_is_open_is_advertised(case):
    """A broker with port 0 in advertised.listeners advertises the port that it bound."""
    return case.scenario(
        metadata(name="told"),
        expect=all_of(answer("told", "brokers").has_length(1), answer("told", PORTS).is_not([0])),
    )


@claim("lifecycle.a-host-without-a-name-has-one", evidence=("BRK-29",),
       config={"advertised.listeners": "PLAINTEXT://:0"})  # fmt: skip
def test_a_host_without_a_name_has_one(case):
    """A broker with an empty host in advertised.listeners advertises its machine's host name."""
    return case.scenario(
        metadata(name="told"),
        expect=all_of(
            answer("told", "brokers").has_length(1),
            answer("told", "brokers[0].host").is_not(""),
        ),
    )


GENERATED = {
    "releases": "1.0-2.8", "config": {"broker.id": "-1"}, "capabilities": ("ids-as-they-are",),
}  # fmt: skip


@claim("lifecycle.the-first-id-that-is-given-is-1001", evidence=("BRK-18", "BRK-20"), **GENERATED)
def test_the_first_id_that_is_given_is_1001(case):
    """A broker without broker.id gets the first id above reserved.broker.max.id, which is 1001."""
    return case.scenario(
        metadata(name="told"),
        api_versions(name="after"),
        expect=all_of(answer("told", IDS).is_([1001]), answered("after")),
    )


@claim("lifecycle.ids-above-what-is-reserved", evidence=("BRK-18", "BRK-20"),
       releases="1.0-2.8", capabilities=("ids-as-they-are",),
       config={"broker.id": "-1", "reserved.broker.max.id": "41"})  # fmt: skip
def test_ids_above_what_is_reserved(case):
    """With reserved.broker.max.id=41 a broker without broker.id gets id 42."""
    return case.scenario(metadata(name="told"), expect=answer("told", IDS).is_([42]))


@claim("lifecycle.each-broker-gets-an-id-of-its-own", evidence=("BRK-19", "BRK-18"), brokers=3,
       **GENERATED)  # fmt: skip
def test_each_broker_gets_an_id_of_its_own(case):
    """Three brokers without broker.id that start together get the ids 1001, 1002 and 1003."""
    return case.scenario(
        Until(metadata(name="told"), "brokers", "len ==", 3),
        expect=all_of(*(answer("told", IDS).contains(1000 + n) for n in (1, 2, 3))),
    )
