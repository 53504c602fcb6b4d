"""Every error code is one that this API can give; clients act on codes, and an illegal one kills.

Redpanda PR 11941: one code that Fetch never gives stopped Java consumers for good. The table is
`error_codes.LEGAL`; an API that is not in it is not checked.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.checkers.error_codes import EVERYWHERE, LEGAL
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.errors import name_of

NEVER_CHECKED_HERE = (0, -1)  # no error; and what `no-unknown-error` reports


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip, answer in walks.decoded(transcript):
        api = walks.api_of(trip)
        legal = LEGAL.get(api)
        if legal is None:
            continue
        for path, name, value in walks.leaves(answer):
            if not name.endswith("error_code") or value in NEVER_CHECKED_HERE:
                continue
            if value not in legal and value not in EVERYWHERE:
                word = f"{name_of(value)} ({value}) is no answer of {api}"
                found.append(Finding("legal-error-codes", trip.label, path, word))
    return found
