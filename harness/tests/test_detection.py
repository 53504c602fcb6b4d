"""Every defect that can be planted is noticed, by the claim that says it notices it."""

from __future__ import annotations

import pytest

from harness import detection
from harness.detection import SWITCHES, Detection, catchers, detect, functions, score
from harness.targets import UnknownTarget, parse

FOUND = functions()
PAIRS = [
    pytest.param(switch, id, id=f"{switch}-{id}")
    for switch, ids in catchers([claim for claim, _ in FOUND.values()]).items()
    for id in ids
]


@pytest.mark.slow
@pytest.mark.parametrize(("switch", "id"), PAIRS)
def test_a_planted_defect_is_caught_by_its_claim(switch, id):
    if id not in FOUND:
        pytest.skip(f"no claim {id} yet: nothing catches {switch}")
    assert switch in SWITCHES, f"{id} catches {switch}, which cannot be planted"
    claim, function = FOUND[id]
    found = detect(switch, claim, function)
    assert found.killed_by is not None, found.reason


def test_a_claim_without_the_defect_kills_nothing():
    claim, function = FOUND["versions.every-served-api-is-listed"]
    found = detect("unknown-version-answered", claim, function, ["4.3"])
    assert found.killed_by is None and "CONFORMS" in found.reason


def test_a_switch_counts_as_killed_when_one_claim_kills_it():
    found = [Detection("a", "x", None), Detection("a", "y", "case"), Detection("b", "x", None)]
    assert score(found) == {"a": True, "b": False}


def test_defects_are_planted_by_name_and_in_our_broker_only():
    assert parse("reference@4.3+crc-not-checked").name == "reference@4.3+crc-not-checked"
    assert parse("reference+crc-not-checked").release == "4.3"
    for word in ("reference@4.3+nothing", "recorded@4.3+crc-not-checked", "1.2.3.4:9092+x"):
        with pytest.raises(UnknownTarget):
            parse(word)


def test_claims_may_only_name_switches_that_exist():
    named = {s for claim, _ in detection.functions().values() for s in claim.switches}
    assert named <= SWITCHES.keys()
