"""The planted defects are 62, each is planted, and the fuzzer finds them.

All of them is `python -m touchstone.fuzz.detection`, ten minutes; this is its slice.
"""

from __future__ import annotations

import pytest

from touchstone.fuzz import deaths
from touchstone.fuzz.detection.hunt import hunt
from touchstone.fuzz.detection.planted import DEFECTS, target_file
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.watches import WATCHES
from touchstone.harness.targets import parse
from touchstone.reference_impl.broker.faults.switches import FUZZ_SWITCHES, SWITCHES

NOT_YET = {"acknowledged"}


def test_there_are_so_many_defects_of_each_group():
    assert {group: len(set(switches)) for group, switches in DEFECTS.items()} == {
        "decode": 10, "log": 10, "coordinator": 10, "resource": 10,
        "null": 3, "edge": 3, "exception": 4, "codec": 2, "others": 4, "size": 3, "order": 3,
    }  # fmt: skip


def test_every_defect_can_be_planted():
    planted = {switch for switches in DEFECTS.values() for switch in switches}
    assert planted <= SWITCHES.keys() | FUZZ_SWITCHES.keys()
    assert FUZZ_SWITCHES.keys() <= planted


def test_every_switch_of_the_fuzzer_names_who_notices_it():
    noticed = {switch.caught_by for switch in FUZZ_SWITCHES.values()}
    assert noticed <= ORACLES.keys() | WATCHES.keys() | {deaths.ORACLE} | NOT_YET


def test_the_planted_broker_is_a_target(tmp_path):
    target = parse(str(target_file(tmp_path, ["lost-write"])))
    assert (target.kind, target.name) == ("file", "planted")


@pytest.mark.slow
@pytest.mark.parametrize(
    "switch", ["every-500th-answer-longer", "lost-write", "commit-metadata-lost", "sockets-kept"]
)
def test_a_planted_defect_of_each_group_is_found(switch):
    assert hunt((switch,), seconds=5).by


@pytest.mark.slow
def test_cases_are_counted_though_the_target_died_of_one(monkeypatch):
    def dies(*_, result, **__):
        result.cases = 7
        raise ConnectionRefusedError("gone")

    monkeypatch.setattr("touchstone.fuzz.detection.hunt.run", dies)
    found = hunt((), seconds=5, all_of_it=True)
    assert found.cases % 7 == 0
    assert found.cases > 0
    assert [who for who, _ in found.complaints] == ["alive"]
