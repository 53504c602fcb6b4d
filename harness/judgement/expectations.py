"""An expectation in words, a line each: `exceeds: ...error_code is MESSAGE_TOO_LARGE (10)`. Pure.

A claim can be judged by eye only where its sentence, its evidence, its steps and what must come of
them stand on one screen; `touchstone explain` has the first three from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.harness.judgement import grades, wording
from touchstone.harness.model.expect import All, Any_, ByRelease, Expectation, Holds, fits
from touchstone.harness.model.placeholders import Name, Now, Ref

INDENT = "    "
NOTHING_MORE = "nothing more"


def lines(expectation: Expectation, release: str) -> list[str]:
    """What has to hold on a release ("4.3"); of branches by release the one that fits it."""
    return list(_lines(expectation, release)) or [NOTHING_MORE]


def _lines(expectation: Expectation, release: str) -> Iterator[str]:
    if isinstance(expectation, Holds):
        yield _holds(expectation)
    elif isinstance(expectation, All):
        for part in expectation.parts:
            yield from _lines(part, release)
    elif isinstance(expectation, Any_):
        yield "one of these:"
        for part in expectation.parts:
            first, *others = lines(part, release)
            yield f"{INDENT}- {first}"
            yield from (f"{INDENT}  {line}" for line in others)
    elif isinstance(expectation, ByRelease):
        for words, part in expectation.branches.items():
            if fits(release, words):
                yield from _lines(part, release)


def _holds(one: Holds) -> str:
    place, verb, wanted = one.place, one.verb, one.wanted
    if verb == "is one of" and len(wanted) == 1:
        verb, (wanted,) = "is", wanted
    if place.source == "connection":
        return f"connection {place.step} {verb} {_value('', wanted)}"
    where = f"{place.step}: {place.words}" if place.words else place.step
    return f"{where} {verb} {_value(place.path, wanted)}"


def _value(path: str, wanted: Any) -> str:
    """A wanted value: names of error codes, and placeholders as what they stand for."""
    if isinstance(wanted, Name):
        return f"${wanted.key}"
    if isinstance(wanted, Ref):
        return f"{wanted.step}'s {wanted.path}" + (f" + {wanted.plus}" if wanted.plus else "")
    if isinstance(wanted, Now):
        return f"the time of the run + {wanted.plus} ms" if wanted.plus else "the time of the run"
    if isinstance(wanted, list | tuple):
        return f"[{', '.join(_value(path, each) for each in wanted)}]"
    if isinstance(wanted, Mapping):
        fields = (f"{key}: {_value(str(key), each)}" for key, each in wanted.items())
        return f"{{{', '.join(fields)}}}"
    if grades.is_code(path) and isinstance(wanted, int):
        return wording.value(path, wanted)
    return wording.shortened(repr(wanted))
