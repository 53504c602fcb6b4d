"""Whose quota holds for a user who has logged in, and who shares the rate of it.

Every user and client id here is of its case alone. One batch is more than LIMIT allows in ten
seconds, so the next request of whoever shares that rate waits, however small it is.

Sources: ClientQuotaManager.DefaultQuotaCallback (2.8.2 to 4.3.1), which counts by the entity that
the quota was found under; KIP-55, KIP-546; clause DYN-16.
"""

from itertools import pairwise

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Name
from touchstone.harness.model.steps import a_topic, produce
from touchstone.suites.kit.quotas import LARGE, LIMIT, PRODUCER, limited, taken_away
from touchstone.suites.kit.records import ONE, batch
from touchstone.suites.kit.security import sasl, with_bearer

WAIT = "throttle_time_ms"
DEFAULT = None
HIGH = 10**9
USER, CLIENT = "user", "client-id"
LEVELS = ("user-and-client", "user-and-default-client", "user", "default-user-and-client", "client")
ORDER = {f"{one}-before-{other}": (one, other) for one, other in pairwise(LEVELS)}


def entities(user, client):
    """What a quota of each level is of, the most specific first."""
    return {
        "user-and-client": {USER: user, CLIENT: client},
        "user-and-default-client": {USER: user, CLIENT: DEFAULT},
        "user": {USER: user},
        "default-user-and-client": {USER: DEFAULT, CLIENT: client},
        "client": {CLIENT: client},
    }


def write(topic, client, name, *, to="b", value=LARGE):
    return produce(topic, 0, batch(value), acks=1, name=name, client_id=client, connection=to)


@claim("quotas.a-nearer-entity-comes-first", evidence=("DYN-16", "KIP-55"), releases="3.9+",
       order=tuple(ORDER), lower=("nearer", "other"), full=True)  # fmt: skip
def test_a_nearer_entity_comes_first(case):
    """Of two quotas of a client the one of the nearer entity holds, be it lower or higher:
    a user with a client id, a user with the default client id, a user, the default user with a
    client id, a client id."""
    topic, user, client = case.topic(), Name("user", token="user"), case.group("client")
    nearer, other = (entities(user, client)[level] for level in ORDER[case.order])
    rates = (LIMIT, HIGH) if case.lower == "nearer" else (HIGH, LIMIT)
    waits = answer("write", WAIT)
    return case.scenario(
        limited(nearer, {PRODUCER: rates[0]}, name="nearer"),
        limited(other, {PRODUCER: rates[1]}, name="other"),
        a_topic(topic),
        with_bearer(user, "b"),
        write(topic, client, "write"),
        expect=waits.at_least(1) if case.lower == "nearer" else waits.is_(0),
        config=sasl(case.release),
    )


@claim("quotas.clients-of-one-user-share-one-rate", evidence=("DYN-16", "KIP-55"), releases="3.9+",
       of=("user", "user-and-default-client"))  # fmt: skip
def test_clients_of_one_user_share_one_rate(case):
    """A quota of a user is one for all of that user's client ids together; one of a user with the
    default client id is one for each client id."""
    topic, user = case.topic(), Name("user", token="user")
    first, second = case.group("first"), case.group("second")
    waits = answer("second", WAIT)
    return case.scenario(
        limited(entities(user, first)[case.of], {PRODUCER: LIMIT}),
        a_topic(topic),
        with_bearer(user, "b"),
        with_bearer(user, "c"),
        write(topic, first, "first"),
        write(topic, second, "second", to="c", value=ONE),
        expect=all_of(
            answer("first", WAIT).at_least(1),
            waits.at_least(1) if case.of == "user" else waits.is_(0),
        ),
        config=sasl(case.release),
    )


@claim("quotas.users-of-one-client-id-share-its-rate", evidence=("DYN-16", "KIP-55"),
       releases="3.9+", of=("client", "default-user-and-client"))  # fmt: skip
def test_users_of_one_client_id_share_its_rate(case):
    """A quota of a client id is one for all users of that id together; one of the default user with
    that id is one for each user."""
    topic, client = case.topic(), case.group("client")
    one, other = Name("one", token="one"), Name("other", token="other")
    waits = answer("second", WAIT)
    return case.scenario(
        limited(entities(one, client)[case.of], {PRODUCER: LIMIT}),
        a_topic(topic),
        with_bearer(one, "b"),
        with_bearer(other, "c"),
        write(topic, client, "first"),
        write(topic, client, "second", to="c", value=ONE),
        expect=all_of(
            answer("first", WAIT).at_least(1),
            waits.at_least(1) if case.of == "client" else waits.is_(0),
        ),
        config=sasl(case.release),
    )


@claim("quotas.a-quota-that-is-taken-away-holds-no-more", evidence=("DYN-16", "KIP-546"),
       releases="3.9+", left=("nothing", "the-next"))  # fmt: skip
def test_a_quota_that_is_taken_away_holds_no_more(case):
    """Once the quota of a user with a client id is taken away, the quota of the user holds, and
    without one no quota does."""
    topic, user, client = case.topic(), Name("user", token="user"), case.group("client")
    both, alone = {USER: user, CLIENT: client}, {USER: user}
    falls_back = case.left == "the-next"
    waits = answer("write", WAIT)
    return case.scenario(
        a_topic(topic),
        limited(both, {PRODUCER: HIGH if falls_back else LIMIT}, name="pair"),
        limited(alone, {PRODUCER: LIMIT}, name="user") if falls_back else [],
        taken_away(both),
        with_bearer(user, "b"),
        write(topic, client, "write"),
        expect=waits.at_least(1) if falls_back else waits.is_(0),
        config=sasl(case.release),
    )
