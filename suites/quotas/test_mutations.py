"""controller_mutation_rate at work: who has made more partitions than he may is refused, or waits.

Every client here has an id of its own. Its bucket holds eleven times its rate, so one topic of
`SIZE` partitions empties it; how long it is to wait follows from the clock and is not compared.

2.8.2 was asked the same and said the same, but is not recorded yet, so claims are of 4.3 alone.

Sources: KIP-599; ControllerMutationQuotaManager (2.8.2), ControllerApis (3.9.2, 4.3.1).
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, answered, outcome
from touchstone.harness.model.scenario import Await, Quiet
from touchstone.harness.model.steps import (
    a_topic,
    create_partitions,
    create_topic,
    delete_topic,
    metadata,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.quotas import MUTATIONS, limited, of_client

SLOW, SIZE = 0.1, 2  # 1.1 permits at most: who takes two owes nine seconds
BRISK, MANY = 1, 14  # eleven permits at most: who takes fourteen owes three seconds
WAIT = "throttle_time_ms"
MADE, GROWN, GONE = (f"{rows}[0].error_code" for rows in ("topics", "results", "responses"))
KIP = {"evidence": ("KIP-599",), "releases": "4.3+"}


def owing(case, client):
    """A client that has just taken more than it may, on connection b."""
    first = create_topic(
        case.topic("first"), SIZE, version=6, name="first", client_id=client, connection="b"
    )
    return [limited(of_client(client), {MUTATIONS: SLOW}), first]


@claim(
    "quotas.who-owes-permits-makes-no-topic",
    api="CreateTopics",
    versions=range_("CreateTopics", 6, 7),
    switches=("mutation-quotas-ignored",),
    **KIP,
)
def test_who_owes_permits_makes_no_topic(case):
    """CreateTopics of a client above its controller_mutation_rate answers
    THROTTLING_QUOTA_EXCEEDED and a throttle_time_ms; the topic before it, which took more than was
    left, was made and not throttled."""
    client = case.group("client")
    how = {"version": case.version, "client_id": client, "connection": "c"}
    return case.scenario(
        owing(case, client),
        create_topic(case.topic("second"), name="second", **how),
        expect=all_of(
            answer("first", MADE).is_(ErrorCode.NONE),
            answer("first", WAIT).is_(0),
            answer("second", MADE).is_(ErrorCode.THROTTLING_QUOTA_EXCEEDED),
            answer("second", WAIT).at_least(1),
        ),
    )


@claim(
    "quotas.who-knows-no-quota-error-makes-topics",
    api="CreateTopics",
    versions=range_("CreateTopics", 2, 5),
    **KIP,
)
def test_who_knows_no_quota_error_makes_topics(case):
    """CreateTopics before version 6, of a client above its controller_mutation_rate, makes the
    topic and answers a throttle_time_ms."""
    client = case.group("client")
    how = {"version": case.version, "client_id": client, "connection": "c"}
    return case.scenario(
        owing(case, client),
        create_topic(case.topic("second"), name="second", **how),
        expect=all_of(
            answer("second", MADE).is_(ErrorCode.NONE), answer("second", WAIT).at_least(1)
        ),
    )


@claim(
    "quotas.who-owes-permits-grows-no-topic",
    api="CreatePartitions",
    versions=range_("CreatePartitions", 2, 3),
    **KIP,
)
def test_who_owes_permits_grows_no_topic(case):
    """CreatePartitions of a client above its controller_mutation_rate answers a throttle_time_ms,
    and from version 3 on THROTTLING_QUOTA_EXCEEDED."""
    client, topic = case.group("client"), case.topic()
    how = {"version": case.version, "client_id": client, "connection": "c"}
    refused = ErrorCode.THROTTLING_QUOTA_EXCEEDED if case.version >= 3 else ErrorCode.NONE
    return case.scenario(
        a_topic(topic),
        owing(case, client),
        create_partitions(topic, 2, name="grow", **how),
        expect=all_of(answer("grow", GROWN).is_(refused), answer("grow", WAIT).at_least(1)),
    )


@claim(
    "quotas.who-owes-permits-deletes-no-topic",
    api="DeleteTopics",
    versions=range_("DeleteTopics", 4, 5),
    **KIP,
)
def test_who_owes_permits_deletes_no_topic(case):
    """DeleteTopics of a client above its controller_mutation_rate answers a throttle_time_ms, and
    from version 5 on THROTTLING_QUOTA_EXCEEDED."""
    client, topic = case.group("client"), case.topic()
    how = {"version": case.version, "client_id": client, "connection": "c"}
    refused = ErrorCode.THROTTLING_QUOTA_EXCEEDED if case.version >= 5 else ErrorCode.NONE
    return case.scenario(
        a_topic(topic),
        owing(case, client),
        delete_topic(topic, name="delete", **how),
        expect=all_of(answer("delete", GONE).is_(refused), answer("delete", WAIT).at_least(1)),
    )


@claim("quotas.who-makes-too-much-is-not-read", evidence=("KIP-599", "KIP-219"), releases="4.3+")
def test_who_makes_too_much_is_not_read(case):
    """The broker does not read from the connection of a client above its controller_mutation_rate
    until throttle_time_ms has passed; it reads from the client's other connections."""
    client = case.group("client")
    made = create_topic(
        case.topic(), MANY, version=5, name="made", client_id=client, connection="b"
    )
    asked = metadata(name="asked", connection="b", client_id=client)
    return case.scenario(
        limited(of_client(client), {MUTATIONS: BRISK}),
        made,
        sent(asked),
        Quiet("b", name="nothing"),
        replace(asked, name="elsewhere", connection="c"),
        Await("asked"),
        expect=all_of(
            answer("made", WAIT).at_least(1),
            outcome("nothing").is_("silent"),
            answered("elsewhere"),
            answered("asked"),
        ),
    )
