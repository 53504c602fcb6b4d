"""UNKNOWN_SERVER_ERROR (-1) is what Kafka says when it did not foresee an exception: never legal.

Every case of these suites has a foreseen answer, so a -1 is a broker's bug even where the API's
documentation allows it.
"""

from __future__ import annotations

from harness.checkers import walks
from harness.finding import Finding
from harness.transcript import Transcript

UNKNOWN_SERVER_ERROR = -1


def check(transcript: Transcript) -> list[Finding]:
    return [
        Finding("no-unknown-error", exchange.label, path, "UNKNOWN_SERVER_ERROR is no answer")
        for exchange, answer in walks.decoded(transcript)
        for path, name, value in walks.leaves(answer)
        if name.endswith("error_code") and value == UNKNOWN_SERVER_ERROR
    ]
