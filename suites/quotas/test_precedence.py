"""All eight levels of quotas, default users and clients among them, and whose rate each counts.

A default user's quota is everybody's, so these cases have a cluster of their own, by a setting that
is as it is by default, and take each quota away.

Sources: ClientQuotaManager.DefaultQuotaCallback at 3.9.2 and 4.3.1; KIP-55, KIP-546; DYN-16.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Name
from touchstone.harness.model.steps import a_topic
from touchstone.suites.kit.quotas import LIMIT, PRODUCER, alter, describe, limited, taken_away
from touchstone.suites.kit.records import ONE
from touchstone.suites.kit.security import sasl, with_bearer
from touchstone.suites.quotas.test_users import CLIENT, DEFAULT, HIGH, USER, WAIT, write

MINE = {"quota.window.num": "11"}


def _levels(user, client):
    """The entities that name a client, the nearest first."""
    return [
        {USER: user, CLIENT: client},
        {USER: user, CLIENT: DEFAULT},
        {USER: user},
        {USER: DEFAULT, CLIENT: client},
        {USER: DEFAULT, CLIENT: DEFAULT},
        {USER: DEFAULT},
        {CLIENT: client},
        {CLIENT: DEFAULT},
    ]


@claim("quotas.eight-levels-in-one-order", evidence=("DYN-16", "KIP-546"), releases="3.9+")
def test_eight_levels_in_one_order(case):
    """Of eight quotas that name one client the nearest holds, and each time it is taken away the
    next one: user and client id, user and default client, user, default user and client id, both
    defaults, default user, client id, default client."""
    topic, user, client = case.topic(), Name("user", token="user"), case.group("client")
    levels = _levels(user, client)
    steps, waits = [], []
    for number, level in enumerate(levels):
        low = number % 2 == 1
        steps.append(limited(level, {PRODUCER: LIMIT if low else HIGH}, name=f"level {number}"))
    for number, level in enumerate(levels):
        name, connection = f"write {number}", f"c{number}"
        steps += [
            with_bearer(user, connection),
            write(topic, client, name, to=connection),
            taken_away(level, name=f"without {number}"),
        ]
        wait = answer(name, WAIT)
        waits.append(wait.at_least(1) if number % 2 == 1 else wait.is_(0))
    return case.scenario(
        a_topic(topic), *steps, expect=all_of(*waits), config=sasl(case.release) | MINE
    )


@claim("quotas.a-default-is-one-rate-for-each", evidence=("DYN-16", "KIP-55"), releases="3.9+")
def test_a_default_is_one_rate_for_each(case):
    """A quota of the default user is one for each user, whatever the client id; one of the default
    client is one for each client id, whoever the user; one of both defaults one for each pair."""
    topic = case.topic()
    one, other = Name("one", token="one"), Name("other", token="other")
    first, second, third = (case.group(word) for word in ("first", "second", "third"))
    # of whom the quota is: then who is above it, who shares that rate, and who does not
    rows = (
        ({USER: DEFAULT}, (one, first), (one, second), (other, first)),
        ({CLIENT: DEFAULT}, (one, second), (other, second), (one, third)),
        ({USER: DEFAULT, CLIENT: DEFAULT}, (other, third), (other, third), (one, third)),
    )
    steps, wanted = [], []
    for number, (level, above, shares, apart) in enumerate(rows):
        steps.append(limited(level, {PRODUCER: LIMIT}, name=f"limit {number}"))
        for word, (user, client) in (("above", above), ("shares", shares), ("apart", apart)):
            name = f"{word} {number}"
            value = {} if word == "above" else {"value": ONE}
            steps += [with_bearer(user, name), write(topic, client, name, to=name, **value)]
            wait = answer(name, WAIT)
            wanted.append(wait.is_(0) if word == "apart" else wait.at_least(1))
        steps.append(taken_away(level, name=f"without {number}"))
    return case.scenario(
        a_topic(topic), *steps, expect=all_of(*wanted), config=sasl(case.release) | MINE
    )


@claim("quotas.any-name-is-also-the-default", evidence=("KIP-546",), api="DescribeClientQuotas",
       releases="2.8+")  # fmt: skip
def test_any_name_is_also_the_default(case):
    """DescribeClientQuotas with a component that matches any name finds the default entity beside
    named ones; one for the default finds it alone, and one for a name that name alone."""
    client, user = case.group("client"), Name("user", token="user")
    by_default, named = {USER: DEFAULT, CLIENT: client}, {USER: user, CLIENT: client}

    def told(name, match, word):
        rows = [
            {"entity_type": USER, "match_type": match, "match": word},
            {"entity_type": CLIENT, "match_type": 0, "match": client},
        ]
        step = describe({}, version=case.version, name=name)
        return type(step)(step.api, step.version, {"components": rows, "strict": True}, name)

    count = "entries"
    return case.scenario(
        limited(by_default, {PRODUCER: HIGH}, name="default"),
        limited(named, {PRODUCER: HIGH}, name="named"),
        told("any", 2, None),
        told("of the default", 1, None),
        told("of the name", 0, user),
        expect=all_of(
            answer("any", count).has_length(2),
            answer("of the default", count).has_length(1),
            answer("of the name", count).has_length(1),
        ),
    )


@claim("quotas.strictly-nothing-is-nobody", evidence=("KIP-546",), api="DescribeClientQuotas",
       releases="2.8+")  # fmt: skip
def test_strictly_nothing_is_nobody(case):
    """DescribeClientQuotas that is strict and names no component finds no entity."""
    client = case.group("client")
    return case.scenario(
        alter({CLIENT: client}, {PRODUCER: HIGH}, name="set"),
        describe({}, version=case.version, strict=True, name="told"),
        expect=answer("told", "entries").has_length(0),
    )
