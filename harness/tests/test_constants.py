"""No case writes a number that the broker has given it: another broker gives another one.

Every request of every claim is held against what Kafka 4.3 had answered in the case by then. An
epoch, a generation, a producer's or a session's id that stands there as a number, and that an
earlier answer gave, is taken from that answer: by a Ref, or by `model.group_numbers`, which does so
for all numbers of groups. Else it is one of OWN, which the case has chosen itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

import pytest

from touchstone import suites
from touchstone.harness.model import advertised
from touchstone.harness.model.claim import BROKER_ROLE, claim_of
from touchstone.harness.model.group_numbers import GROUP, SENT, GroupNumbers
from touchstone.harness.model.recordings import Missing, Store
from touchstone.harness.model.scenario import Ask, Send, asked
from touchstone.harness.run import dry

RELEASE = "4.3"
IDS = ("producer_id", "session_id", "generation_id", "generation_id_or_member_epoch")
OWN = {
    ("authorizer.markers-need-cluster-action", "producer_id"): "a producer that there never was",
    ("replication.an-epoch-ends-where-the-next-begins", "leader_epoch"):
        "epochs of a new topic begin at 0, and the case's own elections count them",
    ("share.older-leaders-are-fenced", "state_epoch"): "who writes a state says its epoch",
    ("share.summaries-tell-the-start", "state_epoch"): "who writes a state says its epoch",
}  # fmt: skip


def is_given(field):
    """Whether a number of this name is one that brokers give."""
    return field.endswith("epoch") or field in IDS


def numbers(value, group=None):
    """(group, field, number) of each such number above zero in a message."""
    if isinstance(value, Mapping):
        group = value.get(GROUP, group)
        for field, inner in value.items():
            if isinstance(field, str) and is_given(field) and type(inner) is int and inner > 0:
                yield group, field, inner
            else:
                yield from numbers(inner, group)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from numbers(inner, group)


def constants(scenario, recorded):
    """Fields of numbers that an earlier answer about the same group, or about none, gave and that
    nobody takes from there.
    """
    counted, given = GroupNumbers(scenario, recorded, lambda step: None), set()
    for index, (label, step) in enumerate(zip(scenario.labels, scenario.steps, strict=True)):
        request = asked(step)
        if not isinstance(request, Ask | Send):
            continue
        for group, field, number in numbers(request.body):
            names = SENT.get(field, {field})
            linked = field in SENT and counted.giver(index, group, field, number) is not None
            if not linked and any((group, name, number) in given for name in names):
                yield field
        trip, about = recorded.by_label.get(label), request.body.get(GROUP)
        if trip is not None and trip.answer is not None:
            given |= {(group, *rest) for group, *rest in numbers(trip.answer, about)}


def cases():
    """Each broker claim's last case, with its function and its recording."""
    store = Store(RELEASE)
    for room in (one for one in pkgutil.iter_modules(suites.__path__) if one.ispkg):
        package = importlib.import_module(f"touchstone.suites.{room.name}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if ".test_" in module.name:
                for function in vars(importlib.import_module(module.name)).values():
                    yield from recorded(function, store)


def recorded(function, store):
    claim = claim_of(function)
    if claim is None or claim.role != BROKER_ROLE:
        return
    for case in claim.cases(RELEASE, advertised.table(RELEASE))[-1:]:
        found = dry.run(function, case, RELEASE)
        try:
            yield claim, found.scenario, store.transcript(claim.suite, case.id)
        except Missing:
            continue


@pytest.mark.slow
def test_every_number_that_was_given_is_taken_from_its_answer():
    found, asked_of = set(), 0
    for claim, scenario, transcript in cases():
        asked_of += 1
        found |= {(claim.id, field) for field in constants(scenario, transcript)}
    assert asked_of > 1000
    assert found - OWN.keys() == set(), "take it from the answer (Ref), or say in OWN why not"
    assert OWN.keys() - found == set(), "nobody writes these any more"
