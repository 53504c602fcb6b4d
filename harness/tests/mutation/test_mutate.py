"""Mutants of the broker before real cases: who is killed, who lives, and what the command says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from touchstone.harness.mutation.reach import Reach

QUOTAS = "touchstone.reference_impl.broker.data.client_quotas"
KILLER = "quotas.a-consumer-above-its-rate-waits"
BYSTANDER = "versions.every-served-api-is-listed[v4]"

PLANTED = """
from touchstone.harness.mutation import planting
from touchstone.reference_impl.wire import framing
from touchstone.reference_impl.wire.framing import framed as held

(module,) = planting.modules("wire.framing")
source = planting.source(module)
before = held(b"x")
for mutant in source.mutants:
    if mutant.function == "framed":
        planting.plant(module, source, mutant)
        break
try:
    after = held(b"x")
except Exception as error:
    after = error
assert before != after, mutant
assert framing.framed is held
"""

CLIENTS = """
from touchstone.harness.mutation import planting
from touchstone.harness.mutation.campaign import Campaign, Place
from touchstone.harness.mutation.reach import Reach
from touchstone.harness.mutation.subjects import Clients

SEES, PASSES = "producer.keys-are-divided-by-murmur2", "producer.a-given-partition-is-kept"
(module,) = planting.modules("client.partitioner")
source = planting.source(module)
one = next(each for each in source.mutants if each.function == "murmur2")
other = next(each for each in source.mutants if each.function == "worth_weighing")
ran = {SEES: {(module, "murmur2")}, PASSES: {(module, "worth_weighing")}}
reach = Reach(ran, dict.fromkeys(ran, 1.0))
places = [(Place("client", module, source), mutant) for mutant in (one, other)]
found = {each.mutant: each for each in Campaign(Clients("4.3"), reach, 30.0).run(places, 2)}
assert (found[one].outcome, found[one].by) == ("killed", SEES), found
assert found[other].outcome == "survived", found
"""


@pytest.mark.slow  # 5 s: four processes, two of them with the suites
def test_a_mutant_of_the_client_dies_in_its_adapter():
    subprocess.run([sys.executable, "-c", CLIENTS], check=True, timeout=600)


def test_whoever_holds_the_function_has_the_changed_one():
    """In a process of its own, as what is planted stays."""
    subprocess.run([sys.executable, "-c", PLANTED], check=True)


def test_cases_that_run_most_of_a_module_come_first():
    room, other = ("quotas", "one"), ("quotas", "two")
    found = Reach(
        {
            "slow": {room, other},
            "quick": {room, other},
            "passing": {room},
            "elsewhere": {("x", "y")},
        },
        {"slow": 2.0, "quick": 1.0, "passing": 0.1, "elsewhere": 0.1},
    )
    assert found.cases(room) == ["quick", "slow", "passing"]
    assert Reach.read(found.written()) == found


@pytest.mark.slow
def test_a_mutant_dies_of_the_case_that_sees_it_and_lives_where_none_does(tmp_path):
    """`_quotas` decides which quota a request counts for; the bystander runs `hold`."""
    seen = {(QUOTAS, f"ClientQuotas.{name}") for name in ("_quotas", "_limit")}
    reach, rows = tmp_path / "reach.json", tmp_path / "rows.jsonl"
    places = {KILLER: seen, BYSTANDER: {(QUOTAS, "ClientQuotas.hold")}}
    reach.write_text(Reach(places, {KILLER: 1.0, BYSTANDER: 0.1}).written())
    ended = subprocess.run(
        [sys.executable, "-m", "touchstone", "mutate", "broker.data.client_quotas",
         "--reach", reach, "--out", rows, "--fail-under", "100"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    of = {name: {one["outcome"] for one in found if one["function"] == f"ClientQuotas.{name}"}
          for name in ("_quotas", "hold", "charge")}  # fmt: skip
    assert "killed" in of["_quotas"] and "survived" in of["hold"] and of["charge"] == {"unreached"}
    assert all(one["by"] == KILLER for one in found if one["outcome"] == "killed" and one["asked"])
    assert f"survived: {QUOTAS.partition('impl.')[2]}" in ended.stdout
    assert "mutants an hour" in ended.stdout
