"""The machines' tables: total, reachable, and walked as scripts that the reference broker answers
as they expect; with a defect planted it does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, product

import pytest

from touchstone.fuzz.campaign import Result, campaigns
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import TOPICS
from touchstone.fuzz.machines import MACHINES
from touchstone.fuzz.machines.machine import Machine, Var
from touchstone.fuzz.machines.walk import Model, cells_of, walk
from touchstone.fuzz.machines.walked_scripts import WalkedScripts
from touchstone.fuzz.outcome import KEPT, Outcome
from touchstone.fuzz.runner import Link
from touchstone.fuzz.script import Reference
from touchstone.fuzz.sequences.judge import as_expected, changed_nothing, was_refused
from touchstone.fuzz.sequences.player import Player
from touchstone.fuzz.sequences.scripted import Scripted, walked_cases
from touchstone.fuzz.targets import SMALL_CLUSTER
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.framing import framed
from touchstone.reference_impl.wire.headers import encode_request

RELEASES = ("1.0", "2.2", "2.8", "3.9", "4.3")
RANGES = advertised.table("4.3")
EVERYWHERE = [m for m in MACHINES.values() if m.listener == "PLAINTEXT"]


@contextmanager
def playing(**how) -> Iterator[Player]:
    """A player on a reference broker with the campaigns' topics."""
    with serve(release="4.3", config=SMALL_CLUSTER, **how) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Link(host, int(port)) as link:
            create_topics(link, dict.fromkeys(TOPICS, False))
        yield Player(host, int(port))


@pytest.fixture(scope="module")
def player():
    with playing() as made:
        yield made


def by_name(machine: Machine) -> str:
    return machine.name


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_every_state_has_a_cell_for_every_action(machine, release):
    assert set(machine.table(release)) == set(product(machine.states, machine.actions))


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_a_cell_answers_or_says_why_it_is_not_asked(machine):
    for place, cell in machine.table().items():
        assert cell.unasked or cell.codes or cell.to, place


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_a_gap_is_refused(machine):
    cells = dict(machine.cells)
    cells.pop(next(iter(cells)))
    with pytest.raises(ValueError, match="missing"):
        replace(machine, cells=cells)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_an_action_that_is_said_in_no_bytes_is_refused(machine):
    with pytest.raises(ValueError, match="said in no bytes"):
        replace(machine, acts=dict(list(machine.acts.items())[1:]))


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_every_state_can_be_reached(machine):
    asked = {state for state, _ in cells_of(machine, RANGES, "4.3")}
    assert asked == set(machine.states)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_what_is_waited_for_is_released_somewhere(machine):
    table = machine.table()
    waiting = {action for (_, action), cell in table.items() if cell.held}
    released = {action for cell in table.values() for action in cell.releases}
    assert waiting == released


@pytest.mark.parametrize("machine", MACHINES.values(), ids=by_name)
def test_a_difference_names_cells_of_its_table_and_another_answer(machine):
    for difference in machine.differences:
        for place, cell in difference.cells.items():
            assert cell != machine.cells[place], place


@pytest.mark.slow
def test_a_walk_goes_through_the_cell_that_it_is_for():
    machine = MACHINES["classic_group"]
    for number, goal in enumerate(cells_of(machine, RANGES, "4.3")):
        model = Model(machine, RANGES, "4.3", random.Random(number), "w")
        step = walk(model, goal, 16)
        assert model.trail[step] == goal


def test_a_case_is_its_seed_and_its_index():
    def cases():
        walks = WalkedScripts(list(MACHINES.values()), RANGES, "4.3")
        return list(islice(walked_cases(walks, campaigns()["groups"], 7), 60))

    assert cases() == cases()


def test_a_machine_is_left_out_where_its_requests_are_not_served():
    walks = WalkedScripts(list(MACHINES.values()), advertised.table("1.0"), "1.0")
    there = {machine.name for machine in walks.there()}
    assert there == {"classic_group", "idempotent_producer", "transaction", "sasl_on_plaintext"}


@pytest.mark.slow
def test_valid_walks_are_mostly_answered_without_an_error_code():
    walks = WalkedScripts(EVERYWHERE, RANGES, "4.3")
    steps = [
        step.expected
        for _, one in islice(walks.walked(1, {}, (0, 0)), 400)
        for step in one.script.steps
    ]
    assert sum(0 in expected.codes for expected in steps) / len(steps) >= 0.8


def test_a_counter_follows_what_an_answer_brought():
    machine = MACHINES["idempotent_producer"]
    model = Model(machine, RANGES, "4.3", random.Random(1), "w")
    for action in (machine.actions.SEND, machine.actions.BUMP):
        model.take(action)
    epoch = model._value(Var("epoch"))
    assert isinstance(epoch, Reference) and (epoch.out_of, epoch.plus) == ("producer_epoch", 1)


@pytest.mark.slow
@pytest.mark.parametrize("machine", EVERYWHERE, ids=by_name)
def test_the_reference_broker_answers_every_cell_as_the_table_does(machine, player):
    tried, wrong = set(), []
    walks = WalkedScripts([machine], RANGES, "4.3", player.nonce())
    cells = walks.cells()[machine.name]
    for _, one in islice(walks.walked(1, {}, (0, 0)), len(cells)):
        complaint = as_expected(player.play(one.script))
        wrong += [] if complaint is None else [complaint]
        tried |= set(one.trail)
    assert (wrong, set(cells) - tried) == ([], set())


CAUGHT = {
    "generation-not-bumped": "classic_group",
    "joining-members-forgotten": "classic_group",
    "pending-syncs-not-told": "classic_group",
    "assignment-truncated": "classic_group",
    "member-epoch-not-fenced": "consumer_group",
    "share-released-are-lost": "share_group",
    "share-deliveries-not-counted": "share_group",
    "group-epoch-not-bumped": "consumer_group",
    "duplicate-appended": "idempotent_producer",
    "marker-not-written": "transaction",
    "fencing-skipped": "transaction_v2",
    "any-handshake-welcome": "sasl_on_plaintext",
}


@pytest.mark.slow
@pytest.mark.parametrize(("switch", "name"), CAUGHT.items())
def test_a_planted_defect_is_found_and_made_small(switch, name):
    campaign = replace(campaigns()["groups"], faults=(0, 0))
    with playing(switches=[switch]) as player:
        walks = WalkedScripts([MACHINES[name]], RANGES, "4.3", "w-")
        scripted, result = Scripted(campaign, player, walks), Result(name)
        cases = walked_cases(walks, campaign, 1)
        scripted.run(cases, lambda so_far: not so_far.findings and so_far.cases < 200, result)
    found = result.findings[0]
    assert (found.oracle, len(found.as_script.steps) <= 12) == ("as_expected", True)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"error_code": 25, "members": []}, True),
        ({"error_code": 0, "responses": [{"partitions": [{"error_code": 3}]}]}, False),
        ({"responses": [{"error_code": 3}, {"error_code": 0}]}, False),
        ({"responses": [{"error_code": 3}, {"error_code": 3}]}, True),
        ({"error_code": 79}, False),
        ({"error_code": 23}, False),
        ({"error_code": -1, "responses": []}, False),
        ({"assignment": b""}, False),
    ],
)
def test_only_a_request_that_is_refused_as_a_whole_changes_nothing(body, refused):
    assert was_refused(body) is refused


@pytest.mark.parametrize(
    ("version", "transaction", "refused"), [(12, "t", False), (12, None, True), (11, "t", True)]
)
def test_a_refused_produce_of_a_version_2_transaction_leaves_its_partition_there(
    version, transaction, refused
):
    body = {"transactional_id": transaction, "acks": -1, "timeout_ms": 9, "topic_data": []}
    wire = framed(encode_request(0, version, 7, "test", body))
    answer = Outcome((), KEPT), {"partition_responses": [{"error_code": 87}]}
    assert changed_nothing(wire, *answer) is refused
    assert changed_nothing(wire[:-1], *answer) is True
