"""An entry without an error has no error message; Kafka sends null there, or an empty text.

FindCoordinator says "NONE" in its first versions with a message, and is left as it is.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.schema import Struct

SILENT = (None, "", "NONE")


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for trip, answer in walks.decoded(transcript):
        for path, struct in _structs(answer, ""):
            if struct.get("error_code") == 0 and struct.get("error_message") not in SILENT:
                word = f"no error, but {struct['error_message']!r}"
                found.append(Finding("error-messages", trip.label, path, word))
    return found


def _structs(value: Any, path: str) -> list[tuple[str, Struct]]:
    found = [(path, value)] if isinstance(value, dict) else []
    for at, _, inner in walks.leaves(value):
        if isinstance(inner, dict):
            found.append((at, inner))
        elif isinstance(inner, list):
            found += [(f"{at}[{i}]", one) for i, one in enumerate(inner) if isinstance(one, dict)]
    return found
