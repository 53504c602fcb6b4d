"""How answers and causes are put into words: one vocabulary for terminal, Markdown, pages. Pure.

A reader knows Kafka, not this harness. So an error code has its name, a connection closes or says
nothing, and a sentence names both sides: "Kafka 4.3 answers X, this target answers Y".
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import effects, grades
from touchstone.harness.judgement.causes import Cause, version_words
from touchstone.harness.model.expect import CLIENT
from touchstone.reference_impl.wire.errors import name_of

LONGEST = 100  # characters of one value
APIS = 4  # named of a cause that is in many
NAMES = 2  # of what a cause is about, in its title
TARGET = "this target"
INSTALLED = "touchstone."  # modules of the installed package, which have no path of their own
# How a step of one side ended -> what that side does.
ENDED = {
    "answered": "answers",
    "none": "sends nothing",
    "closed": "closes the connection",
    "hung": "does not answer until the deadline",
    "refused": "refuses the connection",
    "garbled": "sends bytes that cannot be a frame",
    "gone": "had closed the connection before",
    "unresolved": "had not given a value that the request needs",
    "unmet": "never gets to what is waited for",
    grades.MADE: "does not serve it; topics of set-up steps were made by Metadata",
    "ended": "dies",
    "not attempted": "could not be asked: an earlier step failed",
}


def kafka(release: str | None) -> str:
    return f"Kafka {release}" if release else "Kafka"


def value(path: str, found: Any) -> str:
    """One value of an answer: error codes by name, bytes and structures shortened."""
    if grades.is_code(path) and isinstance(found, int) and not isinstance(found, bool):
        return f"{name_of(found)} ({found})"
    if found is None:
        return "null"
    if found == grades.MISSING:
        return "nothing"
    text = found if isinstance(found, str) and is_bare(found) else json.dumps(
        found, ensure_ascii=False, default=str
    )  # fmt: skip
    return shortened(text)


def is_bare(text: str) -> bool:
    """Whether a text needs no quotes: a symbol of the run, bytes as hex, a structure as text."""
    return bool(re.match(r"\$|0x|[{\[(]", text)) or text == grades.MISSING


def shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def both(path: str, kind: str, pair: Sequence[Any], release: str | None) -> str:
    """What Kafka does and what the target does, as one sentence without its full stop."""
    oracle, target = pair
    who = kafka(release)
    if kind == grades.CONNECTION:
        return f"{who} {ended(path, oracle)}, {TARGET} {ended(path, target)}"
    if oracle == grades.MISSING:
        return f"{who} has nothing there, {TARGET} has {value(path, target)}"
    if target == grades.MISSING:
        return f"{who} has {value(path, oracle)}, {TARGET} has nothing there"
    found = value(path, target)
    if is_order(oracle, target):
        return f"{who} answers {value(path, oracle)}, {TARGET} the same in another order: {found}"
    return f"{who} answers {value(path, oracle)}, {TARGET} answers {found}"


def is_order(oracle: Any, target: Any) -> bool:
    """Whether two arrays, as such or as causes keep them, differ in nothing but their order."""
    sides = [_elements(one) for one in (oracle, target)]
    return None not in sides and sides[0] == sides[1]


def _elements(array: Any) -> Counter[str] | None:
    """The elements of an array, as often as they are there; None of what is none."""
    if isinstance(array, str) and array.startswith("["):
        with contextlib.suppress(ValueError, SyntaxError):
            array = ast.literal_eval(array)
    return Counter(map(repr, array)) if isinstance(array, list) else None


def ended(path: str, found: Any) -> str:
    """What a side does whose step ended like this."""
    if path == "frames":
        return f"sends {found} frames"
    if path == ANSWER:
        return _parsed(str(found))
    return ENDED.get(str(found), str(found))


def _parsed(found: str) -> str:
    """What a side sends of whose answer this was told: that it decodes, why it does not, that there
    is none, or the bytes of one whose API nobody named.
    """
    if found == "decodes":
        return "sends an answer that can be parsed"
    bare = found == "none" or re.fullmatch("[0-9a-f]*", found)
    return f"sends {found}" if bare else f"sends one that cannot be parsed: {found}"


def expectation(path: str, wanted: str, got: str) -> str:
    """What a claim expects at a place and what was there; both are the expectation's own words."""
    return f"expected {_coded(path, wanted)}, got {_coded(path, got)}"


def _coded(path: str, text: str) -> str:
    """The words of an expectation with the names of error codes behind their numbers."""
    if not grades.is_code(path):
        return shortened(text)
    named = re.sub(r"(?<![\w.])-?\d+", lambda number: value(path, int(number[0])), text)
    return shortened(named)


def apis(cause: Cause) -> str:
    """The APIs of a cause with the versions that were seen to differ."""
    nobody = "the client" if cause.step == CLIENT else "bytes of no API"
    names = [api or nobody for api in cause.apis]
    if len(names) > 1:
        more = f" and {len(names) - APIS} more" if len(names) > APIS else ""
        return f"{', '.join(names[:APIS])}{more}"
    versions = version_words(cause.versions)
    return f"{names[0]} {versions}" if versions else names[0]


def title(cause: Cause) -> str:
    """API, versions and field of a cause, and what of Kafka's it is about."""
    place = cause.path if cause.path not in ("connection", grades.MADE, "") else ""
    if place == ANSWER and cause.api is not None:
        place = "its answer cannot be parsed"
    if cause.effect == effects.ENDS:
        place = "the broker died"
    names = ", ".join(cause.names[:NAMES]) + others(len(cause.names) - NAMES, "name")
    if cause.path == grades.UNOFFERED:
        return f"versions that it does not offer of {names}"
    where = f"{apis(cause)}: {place}" if place else apis(cause)
    return f"{where} of {names}" if names else where


def effect(cause: Cause) -> str:
    """What a cause does and whom it hits: "raises; hits an admin tool"."""
    return f"{cause.effect}; hits {cause.hits}"


def sentence(cause: Cause) -> str:
    """What the cause is: both sides, and how many other pairs of values were seen."""
    release = cause.example.get("release")
    wanted, got = cause.pairs[0]
    if cause.sentence:
        return cause.sentence
    if cause.path == grades.UNOFFERED:
        return f"{kafka(release)} refuses what it does not offer, {TARGET} does not"
    if cause.expected and (isinstance(wanted, str) or cause.step == CLIENT):
        text = f"{expectation(cause.path, str(wanted), str(got))} of {TARGET}"
    elif cause.awaited:
        comes_to, stays_at = value(cause.path, wanted), value(cause.path, got)
        text = f"{kafka(release)} comes to answer {comes_to}, {TARGET} still answers {stays_at}"
    else:
        text = both(cause.path, cause.kind, (wanted, got), release) + _of_death(cause)
    return text + others(len(cause.pairs) - 1, "pair")


def _of_death(cause: Cause) -> str:
    """While what a target died, and what is known of its processes; empty of one that lives."""
    if cause.effect != effects.ENDS:
        return ""
    said = (cause.example.get("reason") or "").partition(" was asked: ")[2]
    return f" while {cause.step} is asked" + (f" ({said})" if said else "")


def behind(cause: Cause) -> str:
    """How much else differs in a cause's cases, which may be a consequence or a defect of its own;
    nothing where nothing does.
    """
    return f"behind it: {counted(len(cause.behind), 'other difference')}" if cause.behind else ""


def also(sign: Cause) -> str:
    """Another sign of a cause's defect, and why it is told there."""
    cases = counted(len(sign.cases), "case")
    return f"also {title(sign)}: {sentence(sign)} ({cases}; {sign.why})"


def others(count: int, noun: str) -> str:
    return f" (and {count} other {noun}{'s' if count > 1 else ''})" if count > 0 else ""


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def again(row: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """The command that runs this case again, as one types it in a shell."""
    options = header.get("arguments") or ["--target", row["target"]]
    return shlex.join(["pytest", *node(row), *options])


def suites(*words: object) -> str:
    """The command that runs all suites with these options, as one types it in any folder."""
    return shlex.join(["pytest", "--pyargs", f"{INSTALLED}suites", *map(str, words)])


def replay(place: str | None, options: Sequence[str], target: str) -> str:
    """The command that sends a stored case again, to what the run was told by these options, or to
    the target of this name; nothing where no file has the case, or a client asked.
    """
    if not place or "--client" in options:
        return ""
    word = options[options.index("--target") + 1] if "--target" in options[:-1] else target
    return shlex.join(["touchstone", "replay", place, "--target", word])


def node(row: Mapping[str, Any]) -> list[str]:
    """The case as pytest is asked for it: by file in a checkout, by module where installed."""
    module, _, function = (row.get("where") or row["claim"]).rpartition(".")
    words = row["case"].removeprefix(row["claim"]).strip("[]")
    name = "-".join(word for word in (row["target"], words) if word)
    if module.startswith(INSTALLED):
        return ["--pyargs", f"{module}::{function}[{name}]"]
    return [f"{module.replace('.', '/')}.py::{function}[{name}]"]
