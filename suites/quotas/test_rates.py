"""Client quotas at work: who is above his rate is told to wait, and has to.

Every client here has an id of its own and sends on a connection of its own, and one batch is more
than its rate allows in ten seconds. How long it is to wait follows from the clock and is not
compared; that it is told to, is.

Sources: ClientQuotaManager (1.0.2 to 4.3.1), KIP-13, KIP-124, KIP-219 (answer first, then do not
read), KIP-546; clauses DYN-16, FETCH-22.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, answered, by_release, outcome, records
from touchstone.harness.model.scenario import Await, Quiet
from touchstone.harness.model.steps import a_topic, fetch, metadata, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.quotas import CONSUMER, LARGE, LIMIT, PRODUCER, USER, limited, of_client
from touchstone.suites.kit.records import ONE, batch

WRITTEN = "responses[0].partition_responses[0].error_code"
WAIT = "throttle_time_ms"
# Until 2.8 a default can be a broker setting; clients have no other way to it before 2.8.
STATIC = {
    "releases": "1.0-2.8",
    "config": {"quota.producer.default": LIMIT, "quota.consumer.default": LIMIT},
}
DYNAMIC = {"releases": "2.8+"}


def write(topic, client, *, name="write", value=LARGE, to="b", **how):
    return produce(
        topic, 0, batch(value), name=name, client_id=client, connection=to, **{"acks": 1, **how}
    )


def rate_of(case, client, key=PRODUCER):
    """The client's quota, where it is no broker setting."""
    return [] if case.claim.shape.config else limited(of_client(client), {key: LIMIT})


def above(case, topic, client):
    """A client that has just sent more than it may, on connection b."""
    return [rate_of(case, client), a_topic(topic), write(topic, client)]


def a_producer_waits(case):
    topic, client = case.topic(), case.group("client")
    return case.scenario(
        above(case, topic, client),
        write(topic, case.group("other"), name="other", value=ONE, to="c"),
        expect=all_of(
            answer("write", WRITTEN).is_(ErrorCode.NONE),
            answer("write", WAIT).at_least(1),
            answer("other", WAIT).is_(0),
        ),
    )


@claim("quotas.a-producer-above-the-default-waits", evidence=("DYN-16", "KIP-13"),
       switches=("quotas-ignored",), **STATIC)  # fmt: skip
def test_a_producer_above_the_default_waits(case):
    """Produce above quota.producer.default is written and returns a throttle_time_ms; a client with
    another client id is not throttled."""
    return a_producer_waits(case)


@claim("quotas.a-producer-above-its-rate-waits", evidence=("DYN-16", "KIP-546"), **DYNAMIC)
def test_a_producer_above_its_rate_waits(case):
    """Produce above a producer_byte_rate that was set for its client id at run time is written and
    returns a throttle_time_ms."""
    return a_producer_waits(case)


@claim("quotas.who-is-told-to-wait-is-not-read", evidence=("KIP-219", "DYN-16"),
       releases="2.2-2.8", config=STATIC["config"])  # fmt: skip
def test_who_is_told_to_wait_is_not_read(case):
    """The broker does not read from the connection of a throttled client until throttle_time_ms has
    passed; it reads from the client's other connections."""
    return not_read(case)


@claim("quotas.who-is-above-his-rate-is-not-read", evidence=("KIP-219", "DYN-16"), **DYNAMIC)
def test_who_is_above_his_rate_is_not_read(case):
    """The broker does not read from the connection of a client above a quota that was set at run
    time; it reads from the client's other connections."""
    return not_read(case)


def not_read(case):
    topic, client = case.topic(), case.group("client")
    asked = metadata(name="asked", connection="b", client_id=client)
    return case.scenario(
        above(case, topic, client),
        sent(asked),
        Quiet("b", name="nothing"),
        replace(asked, name="elsewhere", connection="c"),
        Await("asked"),
        expect=all_of(
            answer("write", WAIT).at_least(1),
            outcome("nothing").is_("silent"),
            answered("elsewhere"),
            answered("asked"),
        ),
    )


@claim("quotas.an-answer-may-be-kept-back", evidence=("DYN-16", "observed on 1.0.2"),
       releases="1.0", config=STATIC["config"])  # fmt: skip
def test_an_answer_may_be_kept_back(case):
    """Produce above quota.producer.default is answered on 1.0 only after the throttle time."""
    topic, client = case.topic(), case.group("client")
    return case.scenario(
        a_topic(topic),
        sent(write(topic, client)),
        Quiet("b", name="nothing"),
        Await("write"),
        expect=all_of(
            outcome("nothing").is_("silent"),
            answer("write", WRITTEN).is_(ErrorCode.NONE),
            answer("write", WAIT).at_least(1),
        ),
    )


def a_consumer_waits(case):
    topic, client = case.topic(), case.group("client")
    return case.scenario(
        rate_of(case, client, CONSUMER),
        a_topic(topic),
        write(topic, case.group("writer"), to="w"),
        fetch(topic, name="fetch", client_id=client, connection="b"),
        expect=all_of(
            answer("fetch", WAIT).at_least(1),
            by_release(
                {
                    "1.0": records("fetch", "[0].value").is_(LARGE),
                    "2.2+": answer("fetch", "responses").is_([]),
                }
            ),
        ),
    )


@claim("quotas.a-consumer-above-the-default-waits", evidence=("FETCH-22", "DYN-16"), **STATIC)
def test_a_consumer_above_the_default_waits(case):
    """Fetch above quota.consumer.default returns a throttle_time_ms and no records; 1.0 returns the
    records late."""
    return a_consumer_waits(case)


@claim("quotas.a-consumer-above-its-rate-waits", evidence=("FETCH-22", "KIP-546"), **DYNAMIC)
def test_a_consumer_above_its_rate_waits(case):
    """Fetch above a consumer_byte_rate that was set for its client id at run time returns a
    throttle_time_ms and no records."""
    return a_consumer_waits(case)


@claim("quotas.the-most-specific-holds", evidence=("DYN-16",), specific=("low", "high"),
       capabilities=("anonymous-clients",), **DYNAMIC)  # fmt: skip
def test_the_most_specific_holds(case):
    """A quota of a user and client id takes precedence over one of the client id alone, be it lower
    or higher."""
    topic, client = case.topic(), case.group("client")
    rates = (10**9, LIMIT) if case.specific == "low" else (LIMIT, 10**9)
    waits = answer("write", WAIT)
    return case.scenario(
        limited(of_client(client), {PRODUCER: rates[0]}, name="client"),
        limited(of_client(client, USER), {PRODUCER: rates[1]}, name="pair"),
        a_topic(topic),
        write(topic, client),
        expect=waits.at_least(1) if case.specific == "low" else waits.is_(0),
    )
