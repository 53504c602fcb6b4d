"""Two targets are compared case by case: equal to itself, and parted by a planted defect."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from touchstone.fuzz import against
from touchstone.fuzz.against import Comparison, Example, Group, Reviewed, outcome_class
from touchstone.fuzz.campaign import campaigns
from touchstone.fuzz.compared_run import prepared
from touchstone.fuzz.corpus_run import NotPrepared, create_topics
from touchstone.fuzz.generator import TOPICS, Generator, Pair
from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import CLOSED, KEPT, RESET, SILENT, Outcome
from touchstone.fuzz.runner import Link
from touchstone.fuzz.triage import framed
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.headers import encode_request


def two_links(stack: contextlib.ExitStack, *switches: str) -> list[Link]:
    """To a broker with these defects, and to one without."""
    links = []
    for planted in (switches, ()):
        cluster = stack.enter_context(serve(switches=planted))
        host, _, port = cluster.bootstrap[0].rpartition(":")
        links.append(stack.enter_context(Link(host, int(port))))
    return links


def compared(cases: int, *switches: str) -> Comparison:
    with contextlib.ExitStack() as stack:
        links = two_links(stack, *switches)
        for each in links:
            create_topics(each, dict.fromkeys(TOPICS, False))
        return against.compare(
            campaigns()["records"],
            *links,
            lambda draw: Generator([Pair(0, 7)], draw),
            seed=1,
            wanted=lambda so_far: so_far.cases < cases,
        )


@pytest.mark.slow
def test_a_broker_is_equal_to_itself():
    found = compared(200)
    assert (found.equal, found.groups) == (200, {})


@pytest.mark.slow
def test_a_planted_defect_is_a_group():
    found = compared(200, "record-count-not-checked")
    assert found.equal < found.cases
    assert {group.api for group in found.groups} == {"Produce"}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome((b"x",), KEPT), "answered"),
        (Outcome((b"x",), RESET), "answered, then ended"),
        (Outcome((), KEPT), "passed over"),
        (Outcome((), RESET), CLOSED),
        (Outcome((), SILENT), SILENT),
    ],
)
def test_outcome_class(outcome, text):
    assert outcome_class(outcome) == text


REVIEWED = Reviewed("Fetch", r"answer\(.*", "closed", ("4.3",), "because")


@pytest.mark.parametrize(
    ("group", "release", "covered"),
    [
        (Group(1, "answer() kept", "closed"), "4.3", True),
        (Group(1, "answer() kept", "closed"), "2.8", False),
        (Group(2, "answer() kept", "closed"), "4.3", False),
        (Group(1, "answer() kept", "silent"), "4.3", False),
    ],
)
def test_a_row_of_the_ledger_covers_whole_texts(group, release, covered):
    assert REVIEWED.covers(group, release) is covered


@pytest.mark.parametrize(
    ("target", "oracle", "same"),
    [
        ("answer(a=3, b=5) kept", "answer(b=5, a=3, a=3) kept", True),
        ("answer(a=3) kept", "answer(a=3) closed", False),
        ("answer(a=3) kept", "answer(b=3) kept", False),
        ("answer() kept", "answer(a=-1) kept", False),
    ],
)
def test_rows_in_another_order_are_the_same_codes(target, oracle, same):
    group = Group(1, target, oracle)
    assert (group.same_codes, against.reason_of(group, "0.0") is not None) == (same, same)


def example(wire: bytes) -> Example:
    return Example(Planned(7, sent_frame(wire), ("trailing",)), "answer(a[0].b=3) kept", "silent")


def test_a_group_keeps_its_shortest_examples():
    found, group = Comparison(), Group(1, "a", "b")
    for size in (9, 3, 7, 5):
        found.add(group, example(bytes(size)))
    assert [len(one.wire) for one in found.examples[group]] == [3, 5, 7]


def test_a_difference_without_a_review_is_a_finding_that_can_be_replayed():
    found, wire = (
        Comparison("valid", cases=1),
        framed(encode_request(3, 1, 5, "x", {"topics": None})),
    )
    found.add(Group(3, "answer(a[*].b=3) kept", "silent"), example(wire))
    found.add(Group(3, "answer(a[*].b=3) kept", "answer(a[*].b=3, a[*].b=3) kept"), example(wire))
    (finding,) = against.findings(found, "4.3", 1, ("ours", "kafka@4.3.1"))
    assert (finding.oracle, finding.signature, finding.expected, finding.index) == (
        "differs", "answer(a[0].b=3) kept", "silent", 7,
    )  # fmt: skip
    assert finding.sentence == "ours showed 'answer(a[0].b=3) kept', kafka@4.3.1 'silent'"


def test_of_no_case_nothing_is_said():
    assert list(against.report_lines(Comparison("valid"), "4.3")) == ["no case was played"]


def test_what_its_user_ends_is_whole_as_far_as_it_came():
    def wanted(so_far: Comparison) -> bool:
        if so_far.cases == 5:
            raise KeyboardInterrupt
        return True

    with contextlib.ExitStack() as stack:
        found = against.compare(
            campaigns()["valid"], *(two_links(stack)), lambda draw: Generator([Pair(18, 0)], draw),
            seed=1, wanted=wanted,
        )  # fmt: skip
    assert (found.cases, found.equal, found.interrupted) == (5, 5, True)


class Forged:
    """A target on which topics cannot be made any more until it is started again."""

    def __init__(self, name: str, *, spoiled: bool = False, can_restart: bool = True) -> None:
        self.target = SimpleNamespace(name=name)
        self.spoiled, self.can_restart = spoiled, can_restart
        self.done: list[str] = []

    def prepare(self) -> None:
        if self.spoiled:
            raise NotPrepared("topics were not created")
        self.done.append("prepared")

    def restart(self) -> None:
        self.spoiled = False
        self.done.append("restarted")


def test_one_that_cannot_be_prepared_is_started_again_with_the_other():
    sound, spoiled = Forged("ours"), Forged("kafka", spoiled=True)
    prepared([sound, spoiled])
    assert (sound.done, spoiled.done) == (
        ["prepared", "restarted", "prepared"],
        ["restarted", "prepared"],
    )


def test_of_others_it_is_said_which_could_not_be_prepared():
    both = [Forged("ours"), Forged("theirs", spoiled=True, can_restart=False)]
    with pytest.raises(NotPrepared, match="^theirs: topics were not created$"):
        prepared(both)


def test_every_row_of_the_ledger_has_a_reason():
    assert [row for row in against.ledger() if not row.reason.strip()] == []
