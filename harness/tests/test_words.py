"""Names of a case are drawn so that one broker and one partition of internal topics hold them."""

from __future__ import annotations

import pytest

from touchstone.harness.driver.words import Words, names_accepted
from touchstone.harness.model.pace import NOTHING_TO_DO, Fit, Least
from touchstone.harness.model.placeholders import Bindings, Name
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.target import Endpoint
from touchstone.harness.model.translation import partition_of

AT = (("127.0.0.1", 9092),)
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"


def here(**more):
    return Endpoint(AT, ids=(1,), **more)


def test_any_name_will_do_where_internal_topics_have_one_partition():
    assert names_accepted(here()) is None
    assert names_accepted(here(internal={OFFSETS: (1, 0), TRANSACTIONS: (1, 0)})) is None


@pytest.mark.parametrize("homes", [{OFFSETS: (50, 0)}, {OFFSETS: (50, 3), TRANSACTIONS: (7, 3)}])
def test_a_name_is_drawn_for_a_partition(homes):
    accepted = names_accepted(here(internal=homes))
    bindings = Bindings("nonce", 0, accepted=accepted)
    for key in ("group", "other", "transaction"):
        drawn = bindings.resolve(Name(key, length=30))
        assert len(drawn) == 30
        assert all(partition_of(drawn, count) == home for count, home in homes.values())


def test_names_that_share_a_token_are_drawn_once():
    """They collide on purpose, so that they cannot be chosen one by one."""
    bindings = Bindings("nonce", 0, accepted=lambda text: False)
    pair = [bindings.resolve(Name(key, token="t")) for key in ("a.b", "a_b")]
    assert pair[0].partition("-")[2] == pair[1].partition("-")[2]


def test_a_name_that_nobody_accepts_is_the_first_that_was_drawn():
    plain = Bindings("nonce", 0).resolve(Name("group"))
    assert Bindings("nonce", 0, accepted=lambda text: False).resolve(Name("group")) == plain


def test_racks_go_by_their_order_and_a_scenario_without_them_sees_none():
    endpoint = Endpoint(AT * 3, ids=(1, 2, 3), racks=("x", "y", "z"))
    three = Words(Scenario((), brokers=3, racks=("a", "b", "c")), endpoint, NOTHING_TO_DO)
    assert three.translation.racks == {"x": "a", "y": "b", "z": "c"}
    one = Words(Scenario(()), Endpoint(AT, ids=(1,), racks=("x",)), NOTHING_TO_DO)
    assert one.translation.racks == {"x": None}
    assert not Words(Scenario(()), here(), NOTHING_TO_DO).translation.racks


def test_bodies_pass_untouched_where_words_are_equal():
    words = Words(Scenario(()), Endpoint(AT), NOTHING_TO_DO)
    body = {"leader_id": 0}
    assert words.sent("Fetch", 4, body) is body and words.answered(body) is body


def test_ids_and_timeouts_are_translated_together():
    join = Ask("JoinGroup", 1, {"session_timeout_ms": 1000, "group_id": "g"})
    fit = Fit(least={"group.min.session.timeout.ms": Least(1, 6000)})
    words = Words(Scenario((join,)), here(), fit)
    assert words.sent("JoinGroup", 1, join.body)["session_timeout_ms"] == 6000
    assert words.more_s == 5
    assert words.answered({"node_id": 1}) == {"node_id": 0}
