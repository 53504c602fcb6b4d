"""Several client ids of one user, one after another: which quota holds, and who shares its rate.

Sources: ClientQuotaManager.DefaultQuotaCallback (2.8.2 to 4.3.1); KIP-55, KIP-546; clause DYN-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Name
from touchstone.harness.model.steps import a_topic
from touchstone.suites.kit.quotas import LIMIT, PRODUCER, limited, taken_away
from touchstone.suites.kit.records import ONE
from touchstone.suites.kit.security import sasl, with_bearer
from touchstone.suites.quotas.test_users import CLIENT, DEFAULT, HIGH, USER, WAIT, write


@claim("quotas.a-user-with-several-client-ids", evidence=("DYN-16", "KIP-55"), releases="3.9+")
def test_a_user_with_several_client_ids(case):
    """The quota of a user with the default client id holds before that of the user alone; once it
    is taken away, all client ids of the user share the user's rate, and other users have their
    own."""
    topic = case.topic()
    user, other = Name("user", token="user"), Name("other", token="other")
    first, second = case.group("first"), case.group("second")
    pair = {USER: user, CLIENT: DEFAULT}
    return case.scenario(
        a_topic(topic),
        limited(pair, {PRODUCER: HIGH}, name="pair"),
        limited({USER: user}, {PRODUCER: LIMIT}, name="alone"),
        with_bearer(user, "b"),
        with_bearer(user, "c"),
        with_bearer(other, "d"),
        write(topic, first, "within the pair's"),
        taken_away(pair),
        write(topic, first, "above the user's"),
        write(topic, second, "shares it", to="c", value=ONE),
        write(topic, second, "another user", to="d"),
        expect=all_of(
            answer("within the pair's", WAIT).is_(0),
            answer("above the user's", WAIT).at_least(1),
            answer("shares it", WAIT).at_least(1),
            answer("another user", WAIT).is_(0),
        ),
        config=sasl(case.release),
    )
