"""Groups and transactions in simulated clusters: promises are kept, and broken ones are seen."""

import re
from types import SimpleNamespace

import pytest

from touchstone.reference_impl.broker.coordinators.group_log import GroupLog
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.sim.copying import CopyHistory, judged
from touchstone.reference_impl.sim.groups import GroupHistory, ObservedConsumer, OutdatedOffset
from touchstone.reference_impl.sim.trial import trial
from touchstone.reference_impl.sim.workload import ReadRecord
from touchstone.reference_impl.tests.client.coordinating import Coordinating
from touchstone.reference_impl.tests.client.scripted import Runner, view

ORDERS = ("orders", 0)
SEEN_AT = {"fencing-skipped": 18}  # the seed to try first
# One history of each release by day, more at night (`make test-all`).
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1,))]


def copied(*values: str, topics: str = "copies audit") -> list[ReadRecord]:
    return [
        ReadRecord("r", topic, 0, offset, value.encode())
        for topic in topics.split()
        for offset, value in enumerate(values)
    ]


def verdict(reads: list[ReadRecord], committed: int = 2, **ends: str) -> str | None:
    """Of transactions that copied one record each, in order."""
    history = CopyHistory()
    for offset, (name, end) in enumerate(ends.items()):
        history.values[name] = [f"{name}|orders-0@{offset}".encode()]
        history.ends[name] = end
    return judged(history, {ORDERS: committed}, {ORDERS: [0, 1]}, reads, ["copies", "audit"])


BOTH = ("a|orders-0@0", "b|orders-0@1")


def test_whole_copies_are_as_they_should_be():
    assert verdict(copied(*BOTH), a="committed", b="committed") is None
    assert verdict(copied(*BOTH), a="committed", b="unknown") is None
    assert verdict(copied(BOTH[0]), committed=1, a="committed", b="aborted") is None


@pytest.mark.parametrize(
    ("reads", "committed", "end", "sentence"),
    [
        (copied(*BOTH), 2, "aborted", "was aborted, and"),
        (copied(BOTH[0]), 2, "committed", "only 0 of its 2"),
        (copied(BOTH[0]) + copied(BOTH[1], topics="audit"), 2, "unknown", "is torn"),
        (copied(BOTH[0]), 2, "unknown", "copied 0 times"),
        (copied(*BOTH), 1, "committed", "copied 1 times to copies, not 0"),
        (copied(*BOTH, BOTH[0]), 2, "committed", "copied 2 times"),
    ],
)
def test_every_way_to_copy_wrongly_is_seen(reads, committed, end, sentence):
    assert sentence in verdict(reads, committed, a="committed", b=end)


def test_a_group_that_keeps_its_promises_has_no_complaints():
    group = GroupHistory()
    group.joined("m", 1, -1, [ORDERS])
    group.accepted("m", 1, {ORDERS: 5}, group.known())
    group.joined("m", 2, 1, [])
    group.joined("n", 2, 1, [ORDERS])
    group.accepted("n", 2, {ORDERS: 5}, group.known())
    assert (group.complaints, group.commits, group.rebalances) == ([], 2, 3)


def test_what_was_not_known_when_a_commit_was_sent_does_not_bind_it():
    group = GroupHistory()
    group.joined("m", 1, -1, [ORDERS])
    before = group.known()
    group.joined("n", 2, -1, [ORDERS])
    group.accepted("n", 2, {ORDERS: 9}, group.known())
    group.accepted("m", 1, {ORDERS: 5}, before)
    assert not group.complaints


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda group: group.joined("n", 3, 3, [ORDERS]), "both own"),
        (lambda group: group.joined("n", 2, 3, []), "in generation 2 after 3"),
        (lambda group: group.accepted("n", 2, {}, group.known()), "in generation 2 after 3"),
        (lambda group: group.accepted("m", 3, {ORDERS: 4}, group.known()), "4 of .* after 5"),
    ],
)
def test_every_broken_promise_of_a_group_is_a_complaint(act, sentence):
    group = GroupHistory()
    group.joined("m", 3, -1, [ORDERS])
    group.accepted("m", 3, {ORDERS: 5}, group.known())
    act(group)
    (complaint,) = group.complaints
    assert re.search(sentence, complaint)


def observed(history: GroupHistory, script: Coordinating) -> tuple[ObservedConsumer, Runner]:
    client = SimpleNamespace(view=view(*script.topics), name="m")
    return ObservedConsumer(client, history, "g"), Runner(client.view, script)


def test_who_reads_without_membership_asks_again_after_an_outdated_offset():
    history, script, place = GroupHistory(), Coordinating(), ("t", 0)
    history.accepted("m", -1, {place: 5}, history.known())
    consumer, runner = observed(history, script)
    consumer.assign([place])
    script.offsets = {place: 3}
    with pytest.raises(OutdatedOffset):
        runner.run(consumer.poll())
    script.offsets = {place: 5}
    runner.run(consumer.poll())
    assert consumer.positions == {place: 5}
    assert not history.complaints


def test_a_member_that_is_told_an_outdated_offset_complains():
    history, script, place = GroupHistory(), Coordinating(), ("t", 0)
    history.accepted("m", -1, {place: 5}, history.known())
    consumer, runner = observed(history, script)
    consumer.observe(["t"])
    script.offsets = {place: 3}
    runner.run(consumer.poll())
    assert any("told that 3" in complaint for complaint in history.complaints)


def test_epochs_of_members_bind_no_other_member():
    group = GroupHistory(apart=True)
    group.joined("m", 3, -1, [ORDERS])
    group.joined("n", 2, 3, [])
    group.accepted("n", 2, {}, group.known())
    assert not group.complaints
    group.joined("n", 3, 3, [ORDERS])
    assert "both own" in group.complaints[0]


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["groups", "consumer-groups", "transactions"])
def test_equal_seeds_give_equal_traces(workload):
    first, second, other = (trial(seed, seconds=3, workload=workload) for seed in (5, 5, 6))
    assert (first.digest, first.groups) == (second.digest, second.groups)
    assert first.digest != other.digest
    assert sum(first.groups.values()) > 10


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold_whatever_happens(release, seed):
    found = trial(seed, seconds=12, release=release, workload="all")
    assert found.violation is None, "\n".join(found.tail)
    assert found.groups["committed"] > 10
    assert found.groups["commits"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_members_of_a_consumer_group_go_on_whatever_happens(seed):
    found = trial(seed, seconds=12, workload="consumer-groups")
    assert found.violation is None, "\n".join(found.tail)
    assert found.groups["commits"] > 20


@pytest.mark.slow
def test_a_coordinator_that_answers_while_it_loads_is_found(monkeypatch):
    monkeypatch.setattr(GroupLog, "loads", lambda log, group_id=None: False)
    seeds = [29, *range(40)]  # the seed to try first
    found = (trial(seed, seconds=20, workload="consumer-groups").violation for seed in seeds)
    assert any(each and "GROUP_ID_NOT_FOUND" in each for each in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("switch", "workload", "sentence"),
    [
        ("torn-transaction", "transactions", "copies are there"),
        ("aborted-visible", "transactions", "was aborted, and"),
        ("lso-ignored", "transactions", "was aborted, and|is torn"),
        ("marker-not-written", "transactions", "copies are there|which ends at"),
        ("pending-offsets-visible", "transactions", "was copied 0 times"),
        ("fencing-skipped", "transactions", "copies"),
        ("commit-not-logged", "groups", "was told that 0 of"),
    ],
)
def test_planted_defects_are_found(switch, workload, sentence):
    seeds = [SEEN_AT.get(switch, 0), *range(40)]
    trials = (trial(seed, seconds=12, switches=[switch], workload=workload) for seed in seeds)
    found = next(filter(None, (each.violation for each in trials)), None)
    assert found is not None
    assert any(part in found for part in sentence.split("|")), found
