"""Every defect that can be planted is noticed, by the claim that says it notices it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from touchstone.harness.judgement import causes
from touchstone.harness.run import detection
from touchstone.harness.run.detection import (
    SWITCHES,
    Detection,
    catchers,
    detect,
    functions,
    rows_of,
    score,
)
from touchstone.harness.targets import UnknownTarget, parse
from touchstone.reference_impl.broker.personas.releases import RELEASES

FOUND = functions()
CATCHERS = catchers([claim for claim, _ in FOUND.values()])
GOLDEN = tomllib.loads((Path(__file__).parent / "golden" / "causes.toml").read_text())
CAUSES = GOLDEN["causes"]
PAIRS = [
    pytest.param(switch, id, id=f"{switch}-{id}") for switch, ids in CATCHERS.items() for id in ids
]


@pytest.fixture(scope="module")
def side_by_side(request):
    """What the chosen tests of this module ask for is judged while they wait for the first."""
    params = [
        item.callspec.params for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    ]  # fmt: skip
    chosen = dict.fromkeys(one["switch"] for one in params)
    pairs = [(one["switch"], one["id"]) for one in params if "id" in one]
    pairs += [(switch, id) for switch in chosen for id in CATCHERS[switch]]
    with detection.ahead(dict.fromkeys(pairs)):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("switch", "id"), PAIRS)
@pytest.mark.usefixtures("side_by_side")
def test_a_planted_defect_is_caught_by_its_claim(switch, id):
    if id not in FOUND:
        pytest.skip(f"no claim {id} yet: nothing catches {switch}")
    assert switch in SWITCHES, f"{id} catches {switch}, which cannot be planted"
    found = detect(switch, id)
    assert found.killed_by is not None, found.reason


@pytest.mark.slow
@pytest.mark.parametrize("switch", CATCHERS)
@pytest.mark.usefixtures("side_by_side")
def test_a_planted_defect_is_told_as_the_one_cause_it_is(switch):
    found = causes.find(rows_of(switch, CATCHERS[switch]))
    told = [cause.id for cause in found.causes]
    row = f"{switch} = {json.dumps(told)}"
    assert told == CAUSES.get(switch), f"{len(found.of_case)} cases; if true: causes.toml, {row}"
    assert [sign.id for sign in found.causes[0].also] == GOLDEN["also"].get(switch, [])


@pytest.mark.slow
@pytest.mark.parametrize("switch", ["crc-not-checked", "lso-ignored", "racks-ignored"])
def test_a_strict_judge_tells_the_same_cause(switch):
    (id,) = CATCHERS[switch]
    strict = detection.judged(switch, id, "4.3", strict=True)
    assert [cause.id for cause in causes.find(strict).causes] == CAUSES[switch]


def test_every_switch_has_its_cause_written_down():
    assert CAUSES.keys() == CATCHERS.keys()
    assert all(len(told) == 1 for told in CAUSES.values())
    assert GOLDEN["also"].keys() <= CAUSES.keys()


def test_a_claim_without_the_defect_kills_nothing():
    found = detect("unknown-version-answered", "versions.every-served-api-is-listed", ["4.3"])
    assert found.killed_by is None and "CONFORMS" in found.reason


def test_a_switch_counts_as_killed_when_one_claim_kills_it():
    found = [Detection("a", "x", None), Detection("a", "y", "case"), Detection("b", "x", None)]
    assert score(found) == {"a": True, "b": False}


def test_defects_are_planted_by_name_and_in_our_broker_only():
    assert parse("reference@4.3+crc-not-checked").name == "reference@4.3+crc-not-checked"
    assert parse("reference+crc-not-checked").release == RELEASES[-1]
    for word in ("reference@4.3+nothing", "recorded@4.3+crc-not-checked", "1.2.3.4:9092+x"):
        with pytest.raises(UnknownTarget):
            parse(word)


def test_claims_may_only_name_switches_that_exist():
    named = {s for claim, _ in detection.functions().values() for s in claim.switches}
    assert named <= SWITCHES.keys()
