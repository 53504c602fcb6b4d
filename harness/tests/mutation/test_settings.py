"""Mutants of quirks and of defaults: which there are, what is planted, and who reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from touchstone.harness.mutation import planting
from touchstone.harness.mutation.settings import DEFAULTS, QUIRKS, SHOWN, Values

QUOTAS = f"{planting.PAIR}.broker.data.client_quotas"
PLANTED = """
from touchstone.harness.mutation.settings import Values
from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.personas import persona

for room, name in (("quirks", "quotas.answers-wait"), ("defaults", "message.max.bytes")):
    values = Values(room, "4.3", [])
    values.plant(next(one for one in values.mutants if one.function == name))
assert persona("4.3").quirk("quotas.answers-wait") is True
assert persona("3.9").quirk("quotas.answers-wait") is False
assert broker_definitions("4.3")["message.max.bytes"].default == str(2 * 1048588)
assert broker_definitions("3.9")["message.max.bytes"].default == "1048588"
"""


@pytest.fixture(scope="module")
def found():
    names = planting.modules("broker.data.client_quotas")
    return {room: Values(room, "4.3", names) for room in (QUIRKS, DEFAULTS)}


def of(values, name):
    return {(one.was, one.now) for one in values.mutants if one.function == name}


@pytest.mark.parametrize(
    ("room", "name", "changes"),
    [
        (QUIRKS, "quotas.answers-wait", {("False", "True")}),
        (DEFAULTS, "message.max.bytes", {("'1048588'", "'2097176'")}),
        (DEFAULTS, "auto.create.topics.enable", {("'true'", "'false'")}),
        (DEFAULTS, "transaction.partition.verification.enable", {("'true'", "'false'")}),
        (DEFAULTS, "group.streams.num.standby.replicas", {("'0'", "'1'")}),
        (DEFAULTS, "broker.rack", set()),
    ],
)
def test_what_stands_in_its_place(found, room, name, changes):
    assert of(found[room], name) == changes


def test_another_releases_default_is_one():
    older = Values(DEFAULTS, "2.8", [])
    assert ("'10000'", "'60000'") in of(
        older, "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    )


def test_who_names_a_value_reads_it(found):
    (mutant,) = [one for one in found[QUIRKS].mutants if one.function == "quotas.answers-wait"]
    assert found[QUIRKS].readers(mutant) == [(QUOTAS, "ClientQuotas.charge")]


def test_every_default_is_told(found):
    assert all(SHOWN in found[DEFAULTS].readers(one) for one in found[DEFAULTS].mutants)


def test_what_is_planted_is_of_one_release():
    """In a process of its own, as what is planted stays."""
    subprocess.run([sys.executable, "-c", PLANTED], check=True)
