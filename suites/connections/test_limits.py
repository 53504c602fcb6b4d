"""Connection limits: per client address, per listener and per broker.

A broker's own connections (from its controller, from its log manager) come from the same address
and count too, and their number differs by release; so the claims stay well below or well above the
limit and assert nothing about the connection that reaches it exactly. A single network thread makes
the order deterministic: it has registered every accepted connection before it answers the first of
two requests, and has counted every closed one before it answers the second. So each case closes
what it opened, asks twice, and only then ends.

Sources: ConnectionQuotas and Acceptor at 1.0.2, 2.8.2 and 3.9; KIP-402; clauses WIRE-06, WIRE-07.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, answered, connection
from touchstone.harness.model.scenario import Await, Close, Open, Quiet
from touchstone.harness.model.steps import a_topic, list_offsets, metadata, produce
from touchstone.suites.kit.in_flight import sent, the_end
from touchstone.suites.kit.records import ONE, batch

MOST = 10
ONE_THREAD = {"num.network.threads": 1}
CONFIGS = {
    "all": ONE_THREAD | {"max.connections.per.ip": MOST},
    "one": ONE_THREAD | {"max.connections.per.ip.overrides": f"127.0.0.1:{MOST}"},
}
KEPT = ("b", "c", "d")
FILLERS = tuple(f"filler {index}" for index in range(MOST))


def refused(to):
    """Look until the broker closes this connection, on which nothing was said."""
    return the_end(to, f"{to} end")


def given_back(*names, again=""):
    """Close these, and ask twice, so that the broker has seen and counted it."""
    seen = [metadata(name=f"{word} given back{again}") for word in ("first", "then")]
    return [*(Close(name) for name in names), *seen]


@claim(
    "connections.too-many-of-one-address-are-closed",
    evidence=("WIRE-06",),
    switches=("connection-limits-ignored",),
    limit=tuple(CONFIGS),
)
def test_too_many_of_one_address_are_closed(case):
    """Above max.connections.per.ip the broker closes a new connection unread and keeps the open
    ones.
    """
    return case.scenario(
        metadata(name="first"),
        [metadata(name=f"{name} before", connection=name) for name in KEPT],
        [Open(name) for name in FILLERS],
        Open("late"),
        refused("late"),
        [metadata(name=f"{name} after", connection=name) for name in KEPT],
        given_back(*KEPT, *FILLERS),
        config=CONFIGS[case.limit],
        expect=all_of(
            connection("late").is_("closed"), *(answered(f"{name} after") for name in KEPT)
        ),
    )


@claim(
    "connections.a-closed-one-makes-room",
    evidence=("WIRE-07", "WIRE-06"),
    limit=tuple(CONFIGS),
)
def test_a_closed_one_makes_room(case):
    """A closed connection frees one place under max.connections.per.ip, and only one."""
    again = [f"again {index}" for index in range(3)]
    return case.scenario(
        metadata(name="first"),
        [Open(name) for name in FILLERS],
        refused(FILLERS[-1]),
        given_back(*FILLERS, again=" at once"),
        [metadata(name=name, connection=name) for name in again],
        [Open(f"more {index}") for index in range(MOST)],
        refused(f"more {MOST - 1}"),
        given_back(*again, *(f"more {index}" for index in range(MOST))),
        config=CONFIGS[case.limit],
        expect=all_of(
            *(answered(name) for name in again),
            connection(FILLERS[-1]).is_("closed"),
            connection(f"more {MOST - 1}").is_("closed"),
        ),
    )


@claim(
    "connections.too-many-of-a-listener-wait",
    evidence=("KIP-402",),
    releases="2.8+",
    config=ONE_THREAD | {"listener.name.plaintext.max.connections": MOST},
)
def test_too_many_of_a_listener_wait(case):
    """Above a listener's max.connections a new connection is not closed but waits until another
    closes.
    """
    return served_when_there_is_room(case)


@claim(
    "connections.too-many-of-a-broker-wait",
    evidence=("KIP-402",),
    releases="2.8+",
    config=ONE_THREAD | {"max.connections": MOST},
)
def test_too_many_of_a_broker_wait(case):
    """Above the broker's max.connections a new connection is not closed but waits until another
    closes.
    """
    return served_when_there_is_room(case)


def served_when_there_is_room(case):
    """Beyond the limit a question is asked whose answer tells when it was heard."""
    topic = case.topic()
    ends = list_offsets(topic)
    return case.scenario(
        a_topic(topic),
        [Open(name) for name in FILLERS],
        sent(ends, "late", to="late"),
        Quiet("late"),
        produce(topic, 0, batch(ONE), name="append"),
        given_back(*FILLERS),
        Await("late"),
        given_back("late", again=" in the end"),
        expect=answer("late", "topics[0].partitions[0].offset").is_(1),
    )
