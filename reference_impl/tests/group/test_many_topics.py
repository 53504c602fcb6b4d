"""A group over many topics costs its members no more than there are topics; work is counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.coordinators import topic_view
from touchstone.reference_impl.group.consumer_group import ConsumerMember
from touchstone.reference_impl.group.reconciliation import reconcile
from touchstone.reference_impl.share import group as share_groups
from touchstone.reference_impl.share import membership
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.tests.group.test_consumer_groups_over_the_wire import a_member, beat
from touchstone.reference_impl.tests.share.test_membership import World

TOPICS = [number.to_bytes(16, "big") for number in range(50)]


class Counted(dict):
    """Counts how often it is gone through."""

    walks = 0

    def __iter__(self) -> Iterator:
        Counted.walks += 1
        return super().__iter__()

    def items(self):
        Counted.walks += 1
        return super().items()


def test_a_step_goes_through_what_a_member_has_a_fixed_number_of_times():
    """It was once for each topic: 0.5 s of a heartbeat over 4,000."""
    held = Counted({(topic, 0): 1 for topic in TOPICS[:-1]})
    member = ConsumerMember("m", epoch=1, assigned=held)
    Counted.walks = 0
    target = {(topic, 0) for topic in TOPICS}
    assert reconcile(
        member, target, 2, owned=held, taken=set, subscribed=lambda: None, narrowed=False
    )
    assert len(member.assigned) == len(TOPICS)
    assert Counted.walks < 8


def test_a_member_that_arrived_asks_nobody_what_others_have():
    member = ConsumerMember("m", epoch=1, assigned={(TOPICS[0], 0): 1})

    def never():
        raise AssertionError("nothing is to be reconciled")

    how = {"owned": None, "taken": never, "subscribed": never, "narrowed": False}
    assert not reconcile(member, {(TOPICS[0], 0)}, 1, **how)


def test_a_steady_heartbeat_puts_no_settings_together(monkeypatch):
    """Half of its time was spent on this."""
    one = a_member()
    put_together = []
    monkeypatch.setattr(config_view, "static_settings", put_together.append)
    assert beat(one, 2)["error_code"] == 0
    assert put_together == []


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8", "3.9", "4.3"])
def test_one_setting_is_what_the_levels_say_together(release):
    broker = OneBroker(release, **{"min.insync.replicas": "2", "broker.rack": "r"}).brokers[0]
    kept = {"0": {"log.retention.ms": "5"}, "": {"log.retention.ms": "6", "num.io.threads": "9"}}
    broker.cluster.dynamic_configs.update(kept)
    levels = config_view._levels(broker)
    for name in (*config_view.broker_definitions(release), *levels.static, "nothing"):
        found = config_view._synonyms(broker, name, levels)
        assert config_view.setting(broker, name) == (found[0].value if found else None), name


def test_topics_are_hashed_again_only_when_they_changed(monkeypatch):
    one, hashed = OneBroker(), []
    real = topic_view.topic_hash
    monkeypatch.setattr(
        topic_view, "topic_hash", lambda name, *rest: hashed.append(name) or real(name, *rest)
    )
    for name in ("a", "b", "c"):
        one.topic(name)
        topic_view.topic_view(one.brokers[0])
    assert hashed == ["a", "b", "c"]
    one.cluster.delete("b")
    one.topic("b")
    assert set(topic_view.topic_view(one.brokers[0]).topics) == {"a", "b", "c"}
    assert hashed == ["a", "b", "c", "b"]


def test_a_share_group_hashes_its_topics_again_only_when_they_changed(monkeypatch):
    world, hashed = World(), []
    real = membership.group_hash
    monkeypatch.setattr(
        membership, "group_hash", lambda rows: hashed.append(sorted(rows)) or real(rows)
    )
    epoch, _ = world.beat("m", 0, "a", "b")
    for _ in range(5):
        epoch, _ = world.beat("m", epoch)
    assert hashed == [["a", "b"]]
    world.beat("m", epoch, "a")
    assert hashed == [["a", "b"], ["a"]]


def test_a_share_group_sees_what_was_initialised_for_many_topics():
    rows = {t: share_groups.TopicPartitions(t.hex(), frozenset((0,)), 1) for t in TOPICS}
    member = share_groups.Member("m", names=frozenset(t.hex() for t in TOPICS))
    group = share_groups.ShareGroup("g", members={"m": member}, initialised=rows)
    assert group.assignment_is_due()
    group.target = {"m": frozenset((t, 0) for t in TOPICS)}
    assert not group.assignment_is_due()
    group.target = {"m": frozenset((t, 0) for t in TOPICS[1:])}
    assert group.assignment_is_due()
