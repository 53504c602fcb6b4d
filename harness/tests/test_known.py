"""Pins are held to their word: new, changed, fixed, stale and expired all fail a run."""

from __future__ import annotations

import datetime

import pytest

from touchstone.harness import known
from touchstone.harness.known import BadPin, How, Pin

TODAY = datetime.date(2026, 11, 21)
LATER = datetime.date(2027, 1, 1)
SIGNATURE = "DIVERGES kept create: topics[0].error_code"


def a_row(case="topics.zero[v4]", verdict="DIVERGES", signature=SIGNATURE, **how):
    row = {
        "claim": case.partition("[")[0], "case": case, "verdict": verdict, "signature": signature,
        "target": "reference@4.3", "release": "4.3", "version": 4, "params": {}, "reason": "why",
        "differences": [difference()] if verdict == "DIVERGES" else [], "findings": [],
        "failures": [], "notes": [], "known": None, "suite": "topics",
    }  # fmt: skip
    return row | how


def difference(path="topics[0].error_code", step="create", **how):
    return {"step": step, "path": path, "oracle": 37, "target": 0, "stands": "asked",
            "kind": "code", "api": "CreateTopics", "version": 4, "at": 0} | how  # fmt: skip


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
    assert made[0] == old[0] and made[1].how[0].cases == {"topics.other[v4]"} and len(made) == 2
    assert known.surprises(rows, made, TODAY) == []
    assert known.updated(rows, made, TODAY) == made, "an update of an update changes nothing"


AT = "create: topics[*].error_code"


def two_ways(**how):
    """A pin of two cases that differ in one place, and of one that differs in two."""
    both = How(frozenset({AT, "create: topics[*].name"}), frozenset({"topics.more[v4]"}))
    alike = How(frozenset({AT}), frozenset({"topics.zero[v4]", "topics.one[v4]"}))
    fields = {"id": "codes", "target": "reference@*", "reason": "r", "expires": LATER,
              "evidence": "seen", "how": (alike, both)}  # fmt: skip
    return Pin(**(fields | how))


ONE, MORE = a_row("topics.one[v4]"), a_row("topics.more[v4]")
MORE["differences"] = [difference(), difference("topics[3].name", kind="value")]


def test_a_pin_names_all_places_of_each_case():
    assert kinds([a_row(), ONE, MORE], [two_ways()]) == []
    found = known.surprises([MORE | {"differences": [difference()]}], [two_ways()], TODAY)
    assert [(one.kind, one.text) for one in found] == [
        ("changed", "create: topics[*].name is as Kafka's now")
    ]
    wider = ONE | {"differences": [difference(), difference("topics[0].name")]}
    (found,) = known.surprises([wider], [two_ways()], TODAY)
    assert found.text == "codes does not expect create: topics[*].name"


def test_every_element_of_an_array_is_one_place():
    row = ONE | {"differences": [difference(f"topics[{i}].error_code") for i in range(5)]}
    assert known.places(row) == {AT}


def test_failures_and_findings_are_places_too():
    failure = {"step": "create", "path": "topics[0].error_code", "wanted": "37", "got": "0"}
    finding = {"step": "create", "checker": "framing", "path": "", "sentence": "odd"}
    row = ONE | {"differences": [], "failures": [failure], "findings": [finding]}
    assert known.places(row) == {AT, "create: framing"}


def test_a_case_that_the_pin_does_not_name_is_new_and_one_that_conforms_is_fixed():
    assert kinds([a_row("topics.other[v4]")], [two_ways()]) == ["new", "stale"]
    fixed = a_row("topics.one[v4]", verdict="CONFORMS")
    assert kinds([fixed, MORE], [two_ways()]) == ["fixed"]


def test_pins_are_made_one_per_cause_with_the_cases_of_each_set_of_places():
    other = a_row("topics.late[v4]", differences=[difference("x", kind="value", at=1)])
    made = known.updated([a_row(), ONE, MORE, other], [], TODAY, "seen by a person")
    assert [(pin.id, pin.reason) for pin in made] == [
        ("reference@4.3/CreateTopics.topics.error_code:37,0", "seen by a person"),
        ("reference@4.3/CreateTopics.x:less", "seen by a person"),
    ]
    assert {how.places: how.cases for how in made[0].how} == {
        how.places: how.cases for how in two_ways().how
    }
    assert "this target answers NONE (0)" in made[0].cause
    assert kinds([a_row(), ONE, MORE, other], made) == []


def test_an_update_keeps_what_is_still_true_of_a_pin():
    fixed = a_row("topics.one[v4]", verdict="CONFORMS")
    (kept,) = known.updated([a_row(), fixed], [two_ways()], TODAY)
    assert kept.reason == "r" and [how.cases for how in kept.how] == [{"topics.zero[v4]"}]


def test_pins_with_places_round_trip(tmp_path):
    path = tmp_path / "pins.toml"
    path.write_text(known.dumps([two_ways(cause='a "sentence"'), a_pin()]), encoding="utf-8")
    assert known.load([path]) == [two_ways(cause='a "sentence"'), a_pin()]


@pytest.mark.parametrize("how", ['"x"', "{places = []}", '{places = ["a"], cases = "b"}'])
def test_a_badly_written_how_is_refused(tmp_path, how):
    path = tmp_path / "pins.toml"
    path.write_text(
        '[[known]]\nid = "a"\ntarget = "t"\nissue = "1"\nreason = "r"\n'
        f"expires = 2027-01-01\nhow = [{how}]\n"
    )
    with pytest.raises(BadPin, match="each how has places and cases"):
        known.load([path])


def test_the_pins_of_this_repository_load():
    assert all(pin.expires > datetime.date(2026, 1, 1) for pin in known.load())
