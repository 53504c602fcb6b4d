"""Pins are held to their word: new, changed, fixed, stale and expired all fail a run."""

from __future__ import annotations

import datetime

import pytest

from harness import known
from harness.known import BadPin, Pin

TODAY = datetime.date(2026, 11, 21)
LATER = datetime.date(2027, 1, 1)
SIGNATURE = "DIVERGES kept create: topics[0].error_code"


def a_row(case="topics.zero[v4]", verdict="DIVERGES", signature=SIGNATURE, **how):
    row = {
        "claim": case.partition("[")[0], "case": case, "verdict": verdict, "signature": signature,
        "target": "reference@4.3", "release": "4.3", "version": 4, "params": {}, "reason": "why",
    }  # fmt: skip
    return row | how


def a_pin(**how):
    fields = {
        "id": "zero", "claim": "topics.zero", "target": "reference@*", "signature": SIGNATURE,
        "reason": "not served yet", "expires": LATER, "issue": "4",
    }  # fmt: skip
    return Pin(**(fields | how))


def kinds(rows, pins, **how):
    return [one.kind for one in known.surprises(rows, pins, TODAY, **how)]


CONFORMING = a_row(verdict="CONFORMS", signature="CONFORMS")


def test_what_is_pinned_is_no_surprise_and_gets_its_id():
    assert kinds([a_row()], [a_pin()]) == []
    assert known.explain(a_row(), [a_pin()], TODAY) == "zero"


def test_a_new_difference_fails():
    assert kinds([a_row()], []) == ["new"]
    assert kinds([a_row("topics.other[v4]"), a_row()], [a_pin()]) == ["new"]


def test_a_fixed_one_fails():
    assert kinds([CONFORMING], [a_pin()]) == ["fixed"]


def test_a_pin_that_fits_nothing_fails_unless_cases_were_selected():
    assert kinds([CONFORMING], [a_pin(claim="topics.gone")]) == ["stale"]
    assert kinds([CONFORMING], [a_pin(claim="topics.gone")], whole=False) == []


def test_a_pin_of_another_target_is_none_of_our_business():
    assert kinds([CONFORMING], [a_pin(target="kafka@*")]) == []


def test_an_expired_pin_fails_twice_over():
    assert kinds([a_row()], [a_pin(expires=TODAY)]) == ["new", "expired"]


def test_another_signature_fails():
    row = a_row(signature="DIVERGES closed create: connection")
    assert kinds([row], [a_pin()]) == ["changed"]
    assert known.explain(row, [a_pin()], TODAY) is None


def test_our_own_mistakes_cannot_be_pinned():
    row = a_row(verdict="BROKEN", signature=SIGNATURE)
    assert known.explain(row, [a_pin()], TODAY) is None


def test_undecided_is_neither_new_nor_fixed():
    assert kinds([a_row(verdict="INCONCLUSIVE", signature="INCONCLUSIVE")], [a_pin()]) == []


@pytest.mark.parametrize(
    ("how", "covers"),
    [
        ({"versions": "4"}, True),
        ({"versions": "0-4"}, True),
        ({"versions": "5-7"}, False),
        ({"params": {"acks": "-1"}}, False),
        ({"releases": "4.3"}, True),
        ({"releases": "1.0-2.8"}, False),
        ({"claim": "topics.*"}, True),
        ({"claim": "fetch.*"}, False),
    ],
)
def test_what_a_pin_covers(how, covers):
    assert a_pin(**how).covers(a_row()) is covers


def test_parameters_narrow_a_pin():
    pin = a_pin(params={"acks": "-1"})
    assert pin.covers(a_row(params={"acks": "-1"})) and not pin.covers(a_row(params={"acks": "0"}))


def test_files_round_trip(tmp_path):
    pins = [a_pin(), a_pin(id="other", versions="0-2", params={"acks": "-1"}, evidence="seen")]
    path = tmp_path / "pins.toml"
    path.write_text(known.dumps(pins), encoding="utf-8")
    assert known.load([path]) == pins


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"issue": ""}, "neither issue nor evidence"),
        ({"reason": None}, "no reason"),
        ({"color": "red"}, "unknown color"),
        ({"expires": "soon"}, "is a day"),
    ],
)
def test_a_badly_written_pin_is_refused(tmp_path, change, complaint):
    lines = {"id": '"a"', "claim": '"a.b"', "target": '"t"', "signature": '"s"', "issue": '"1"',
             "reason": '"r"', "expires": "2027-01-01"}  # fmt: skip
    for name, value in change.items():
        if value is None:
            del lines[name]
        else:
            lines[name] = f'"{value}"'
    path = tmp_path / "pins.toml"
    path.write_text("[[known]]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items()))
    with pytest.raises(BadPin, match=complaint):
        known.load([path])


def test_an_update_makes_the_run_expected():
    rows = [a_row(), a_row("topics.other[v4]"), CONFORMING | {"case": "x", "claim": "topics.fixed"}]
    old = [a_pin(), a_pin(id="fixed", claim="topics.fixed")]
    made = known.updated(rows, old, TODAY)
    assert made[0] == old[0] and {pin.claim for pin in made} == {"topics.zero", "topics.other"}
    assert known.surprises(rows, made, TODAY) == []
    assert known.updated(rows, made, TODAY) == made, "an update of an update changes nothing"


def test_the_pins_of_this_repository_load():
    assert all(pin.expires > datetime.date(2026, 1, 1) for pin in known.load())
