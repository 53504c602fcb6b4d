"""How partitions are divided: Kafka's own division where it is fixed, its promises where not."""

import random

import pytest

from touchstone.reference_impl.client import assignors
from touchstone.reference_impl.client.assignment import Taker
from touchstone.reference_impl.client.assignors import ASSIGNORS
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription


def takers(*wants: str, **owned) -> list[Taker]:
    return [
        Taker(chr(97 + i), None, frozenset(topics.split()), frozenset(owned.get(chr(97 + i), ())))
        for i, topics in enumerate(wants)
    ]


def test_range_cuts_each_topic_and_the_first_have_more():
    given = ASSIGNORS["range"].divide(takers("t u", "t u"), {"t": 3, "u": 3}, {})
    assert given == {
        "a": [("t", 0), ("t", 1), ("u", 0), ("u", 1)],
        "b": [("t", 2), ("u", 2)],
    }


def test_round_robin_goes_on_from_topic_to_topic():
    given = ASSIGNORS["roundrobin"].divide(takers("t u", "t u"), {"t": 3, "u": 3}, {})
    assert given == {
        "a": [("t", 0), ("t", 2), ("u", 1)],
        "b": [("t", 1), ("u", 0), ("u", 2)],
    }


def test_round_robin_passes_over_who_does_not_want_the_topic():
    given = ASSIGNORS["roundrobin"].divide(takers("t", "t u", "t u"), {"t": 1, "u": 2, "x": 4}, {})
    assert given == {"a": [("t", 0)], "b": [("u", 0)], "c": [("u", 1)]}


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_static_members_come_first_by_their_instance(name):
    members = [
        Taker("z", None, frozenset("t")),
        Taker("y", "two", frozenset("t")),
        Taker("x", "one", frozenset("t")),
    ]
    given = ASSIGNORS[name].divide(members, {"t": 3}, {})
    assert given == {"x": [("t", 0)], "y": [("t", 1)], "z": [("t", 2)]}


def test_what_moves_is_owned_by_nobody_for_a_generation():
    everything = [("t", i) for i in range(4)]
    first = ASSIGNORS["cooperative-sticky"].divide(takers("t", "t", a=everything), {"t": 4}, {})
    assert (len(first["a"]), first["b"]) == (2, [])
    second = ASSIGNORS["cooperative-sticky"].divide(takers("t", "t", a=first["a"]), {"t": 4}, {})
    assert second["a"] == first["a"]
    assert sorted(second["a"] + second["b"]) == everything


def test_of_two_that_claim_a_partition_the_newer_generation_keeps_it():
    places = frozenset({("t", 0), ("t", 1)})
    old = Taker("a", None, frozenset("t"), places, 3)
    new = Taker("b", None, frozenset("t"), places, 4)
    given = assignors.sticky([old, new], {"t": 2})
    assert {len(each) for each in given.values()} == {1}
    alone = assignors.sticky([old, new._replace(topics=frozenset("t"))], {"t": 1})
    assert alone == {"a": [], "b": [("t", 0)]}


@pytest.mark.parametrize("seed", range(30))
def test_sticky_is_even_complete_and_moves_no_more_than_it_must(seed):
    dice = random.Random(seed)
    topics = {name: dice.randint(1, 6) for name in "tuv"}
    wants = [frozenset(dice.sample("tuv", dice.randint(1, 3))) for _ in range(dice.randint(1, 5))]
    members = [Taker(f"m{i}", None, want) for i, want in enumerate(wants)]
    given = assignors.sticky(members, topics)
    wanted = {(t, i) for t, n in topics.items() for i in range(n) if any(t in w for w in wants)}
    assert sorted(place for places in given.values() for place in places) == sorted(wanted)
    for receiver in members:
        for donor in members:
            spare = any(topic in receiver.topics for topic, _ in given[donor.id])
            assert not spare or len(given[donor.id]) - len(given[receiver.id]) < 2
    again = [each._replace(owned=frozenset(given[each.id]), generation=1) for each in members]
    assert {m: set(p) for m, p in assignors.sticky(again, topics).items()} == {
        m: set(p) for m, p in given.items()
    }
    assert assignors.cooperative_sticky(again, topics).keys() == given.keys()


def test_a_partition_that_is_gone_is_given_to_nobody():
    given = assignors.sticky(takers("t", a=[("t", 0), ("t", 5), ("gone", 0)]), {"t": 1})
    assert given == {"a": [("t", 0)]}


def test_subscriptions_of_every_version_are_read():
    body = {
        "topics": ["t"],
        "user_data": (7).to_bytes(4, "big"),
        "owned_partitions": [{"topic": "t", "partitions": [1, 2]}],
        "generation_id": 9,
        "rack_id": None,
    }
    seen = [
        assignors.taker({"member_id": "m", "metadata": encode_subscription(version, body)})
        for version in range(4)
    ]
    owned = frozenset({("t", 1), ("t", 2)})
    assert [each.owned for each in seen] == [frozenset(), owned, owned, owned]
    assert [each.generation for each in seen] == [7, 7, 9, 9]


def test_what_is_assigned_is_read_back():
    places = [("t", 0), ("t", 3), ("u", 1)]
    assert assignors.assigned(assignors.assignment(places)) == places
    assert assignors.assigned(b"") == []


def test_range_gives_each_rack_its_own_partitions():
    """KIP-881, as Java's RangeAssignor of 4.3.1 divides the same."""
    members = [
        Taker("a", None, frozenset("t"), rack="east"),
        Taker("b", None, frozenset("t"), rack="west"),
    ]
    racks = {
        ("t", index): frozenset({rack})
        for index, rack in enumerate(("west", "east", "west", "east"))
    }
    given = ASSIGNORS["range"].divide(members, {"t": 4}, racks)
    assert given == {"a": [("t", 1), ("t", 3)], "b": [("t", 0), ("t", 2)]}
    everywhere = dict.fromkeys(racks, frozenset({"east", "west"}))
    given = ASSIGNORS["range"].divide(members, {"t": 4}, everywhere)
    assert given == {"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]}


def test_topics_that_go_together_stay_together_by_racks():
    members = [
        Taker("a", None, frozenset("tu"), rack="east"),
        Taker("b", None, frozenset("tu"), rack="west"),
    ]
    racks = {
        (topic, index): frozenset({rack})
        for topic in "tu"
        for index, rack in enumerate(("west", "east"))
    }
    given = ASSIGNORS["range"].divide(members, {"t": 2, "u": 2}, racks)
    assert given == {"a": [("t", 1), ("u", 1)], "b": [("t", 0), ("u", 0)]}


def test_the_eager_sticky_assignor_reads_what_members_had_from_their_user_data():
    had = assignors.previous([("t", 0), ("t", 1)], 7)
    assert had.hex() == "00000001000174000000020000000000000001" + "00000007"
    row = {
        "member_id": "m",
        "metadata": assignors.subscription(["t"], [], 8, None, had),
    }
    known = assignors.taker(row, "sticky")
    assert (known.owned, known.generation) == ({("t", 0), ("t", 1)}, 7)
    assert assignors.taker(row, "range").owned == frozenset()
    row["metadata"] = assignors.subscription(["t"], [], 8, None, b"\xff\xff")
    assert assignors.taker(row, "sticky").owned == frozenset(), "as if it had said nothing"


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_what_nobody_owns_goes_to_its_rack(name):
    members = [
        Taker("a", None, frozenset("t"), rack="east"),
        Taker("b", None, frozenset("t"), rack="west"),
    ]
    racks = {("t", 0): frozenset({"west"}), ("t", 1): frozenset({"east"})}
    given = ASSIGNORS[name].divide(members, {"t": 2}, racks)
    assert given == {"a": [("t", 1)], "b": [("t", 0)]}
