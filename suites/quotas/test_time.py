"""request_percentage at work, and which of two quotas of one client id holds.

A millionth of a percent of ten seconds is a microsecond, which no request takes less than.

Sources: ClientRequestQuotaManager and ClientQuotaManager.DefaultQuotaCallback (2.8.2 to 4.3.1);
KIP-124; clause DYN-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import metadata
from touchstone.suites.kit.quotas import TIME, USER, limited, of_client

NOTHING = 0.00001  # percent
ALL = 100_000
WAIT = "throttle_time_ms"
DEFAULT = None
# Two entities of one client id: (the more specific one, the other).
ORDER = {
    "user-before-default-user": (USER, DEFAULT),
    "default-user-before-nobody": (DEFAULT, "nobody"),
    "user-before-nobody": (USER, "nobody"),
}


def entity(client, user):
    return of_client(client) if user == "nobody" else {"user": user, "client-id": client}


@claim("quotas.who-takes-too-much-time-waits", evidence=("DYN-16", "KIP-124"), releases="4.3+",
       switches=("request-time-ignored",))  # fmt: skip
def test_who_takes_too_much_time_waits(case):
    """A request of a client above its request_percentage is answered with a throttle_time_ms of one
    second at most; a client with another client id is not throttled."""
    client, other = case.group("client"), case.group("other")
    return case.scenario(
        limited(of_client(client), {TIME: NOTHING}),
        metadata(name="asked", client_id=client, connection="b"),
        metadata(name="other", client_id=other, connection="c"),
        expect=all_of(
            answer("asked", WAIT).at_least(1),
            answer("asked", WAIT).at_most(1000),
            answer("other", WAIT).is_(0),
        ),
    )


@claim("quotas.a-named-user-comes-first", evidence=("DYN-16", "KIP-124"), releases="4.3+",
       order=tuple(ORDER), lower=("specific", "other"), full=True,
       capabilities=("anonymous-clients",))  # fmt: skip
def test_a_named_user_comes_first(case):
    """Of two quotas of a client id the one with its user holds, then the one with the default user,
    then the one without a user, be it lower or higher than the other."""
    client = case.group("client")
    specific, other = (entity(client, user) for user in ORDER[case.order])
    rates = (NOTHING, ALL) if case.lower == "specific" else (ALL, NOTHING)
    waits = answer("asked", WAIT)
    return case.scenario(
        limited(specific, {TIME: rates[0]}, name="specific"),
        limited(other, {TIME: rates[1]}, name="other"),
        metadata(name="asked", client_id=client, connection="b"),
        expect=waits.at_least(1) if case.lower == "specific" else waits.is_(0),
    )
