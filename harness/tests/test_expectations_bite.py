"""Every expectation can fail: Kafka's recorded answer, changed where a claim looks, is red.

The comparison with the recording would find most of these changes too. But what a claim says must
not rest on it: whoever has no oracle has the expectation alone, and so has every difference in a
step that only prepares.
"""

from __future__ import annotations

import pytest

from touchstone.harness.model import advertised
from touchstone.harness.model.expect import (
    answer,
    any_of,
    by_release,
    connection,
    no_answer,
    records,
)
from touchstone.harness.model.recordings import Store
from touchstone.harness.run import dry
from touchstone.harness.run.detection import functions
from touchstone.harness.tests import doctor
from touchstone.harness.tests.witness import RELEASES

FOUND = functions()
SUITES = sorted({claim.suite for claim, _ in FOUND.values()})


def cases(release, suite):
    """The newest recorded case of each of the suite's claims, with its expectation."""
    store, table = Store(release), advertised.table(release)
    for claim, function in FOUND.values():
        if claim.suite != suite:
            continue
        case = next(reversed(claim.cases(release, table)), None)
        if case is not None and case.id in store.cases(suite):
            found = dry.run(function, case, release)
            fingerprint = found.scenario.fingerprint()
            yield case, found.expectation, store.transcript(suite, case.id, fingerprint)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("release", RELEASES)
def test_expectations_fail_on_doctored_recordings(release, suite):
    wrong = []
    for case, expectation, transcript in cases(release, suite):
        wrong += [f"{case.id}: {one}" for one in expectation.failures(transcript, release)]
        for part in doctor.unbitten(expectation, transcript, release):
            wrong.append(f"{case.id} cannot fail: {part}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_every_claim_expects_something():
    silent = []
    for claim, function in FOUND.values():
        release, case = next(
            (release, case)
            for release in reversed(RELEASES)
            for case in claim.cases(release, advertised.table(release))
        )
        if not doctor.parts(dry.run(function, case, release).expectation, release):
            silent.append(claim.id)
    assert not silent


SEEN = doctor.golden("2.8")
FETCH = doctor.step_with(SEEN, "Fetch", records=True)


@pytest.mark.parametrize(
    "part",
    [
        answer(FETCH, "responses[0].partitions[0].error_code").is_(0),
        answer(FETCH, "responses[*].partitions[*].error_code").each_is(0),
        answer(FETCH, "responses").has_length(1),
        answer(FETCH, "responses[*].partitions[*].partition_index").lacks([7]),
        records(FETCH, "[0].value").is_not(None),
        connection("a").is_("kept"),
        any_of(answer(FETCH, "responses").has_length(1), answer(FETCH, "responses").is_([])),
        by_release({"1.0-2.2": no_answer(FETCH), "2.8+": answer(FETCH, "error_code").is_(0)}),
    ],
)
def test_what_a_place_holds_can_be_changed(part):
    assert doctor.unbitten(part, SEEN, "2.8") == []


def test_an_expectation_that_nothing_changes_is_told():
    always = answer(FETCH, "throttle_time_ms").at_least(-(1 << 31))
    assert doctor.unbitten(always, SEEN, "2.8") == [always]
