"""A config's value is read, checked and refused here, in Kafka's words.

A definition (`personas/config_rows.py`) gives a type and a rule; this file reads text by the type,
holds it to the rule, and says what is wrong the way Kafka says it. It knows nothing of topics or
brokers: what a set of values must keep together stands with whoever owns the set.

Sources: ConfigDef.parseType and its validators @1.0.2 to 4.3.1, ThrottledReplicaListValidator;
messages observed on all five releases.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.broker.personas.config_rows import ConfigDefinition
from touchstone.reference_impl.broker.personas.topic_configs import MESSAGE_FORMATS

INT_MAX, LONG_MAX, SHORT_MAX = 2**31 - 1, 2**63 - 1, 2**15 - 1
JAVA = "org.apache.kafka.common.config.ConfigException"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
_THROTTLED = re.compile(r"[0-9]+:[0-9]+")


class ValueRefused(ValueError):
    """Kafka's ConfigException: `message` is what the client is told."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def in_dynamic_update(said: str) -> ValueRefused:
    """As DynamicBrokerConfig.processReconfiguration refuses what a part of the broker refused."""
    return ValueRefused(
        f"Invalid value {JAVA}: {said} for configuration Invalid dynamic configuration"
    )


def _refuse(name: str, value: Any, why: str) -> ValueRefused:
    shown = f"[{', '.join(value)}]" if isinstance(value, list) else value
    return ValueRefused(f"Invalid value {shown} for configuration {name}: {why}")


# ------------------------------------------------------------------------------ text to value


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _integer(limit: int, kind: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not -limit - 1 <= int(text) <= limit:
            raise ValueError(f"Not a number of type {kind}")
        return int(text)

    return read


def _double(text: str) -> float:
    if not _DOUBLE.fullmatch(text):
        raise ValueError("Not a number of type DOUBLE")
    return float(text.rstrip("fFdD") if not text.endswith("Infinity") else text)


def _list(text: str) -> list[str]:
    return re.split(r"\s*,\s*", text) if text else []


_READERS: dict[str, Callable[[str], Any]] = {
    "BOOLEAN": _boolean,
    "STRING": str,
    "CLASS": str,
    "PASSWORD": str,
    "INT": _integer(INT_MAX, "INT"),
    "SHORT": _integer(SHORT_MAX, "SHORT"),
    "LONG": _integer(LONG_MAX, "LONG"),
    "DOUBLE": _double,
    "LIST": _list,
}


# ------------------------------------------------------------------------------ value to rule


def _at_least(name: str, value: Any, low: str) -> None:
    if value < float(low):
        raise _refuse(name, value, f"Value must be at least {low}")


def _between(name: str, value: Any, bounds: str) -> None:
    low, high = bounds.split(" .. ")
    _at_least(name, value, low)
    if value > float(high):
        raise _refuse(name, value, f"Value must be no more than {high}")


def _level(name: str, value: Any, bounds: str) -> None:
    low, high = bounds.split(" .. ")
    if value != -1 and not int(low) <= value <= int(high):
        why = f"Value must be between {low} and {high} or equal to -1"
        raise _refuse(name, value, why)


def _filled(name: str, value: list[str], _: str) -> None:
    if not value:
        raise ValueRefused(
            f"Configuration '{name}' must not be empty. Valid values include: any non-empty value"
        )


def _one_of(name: str, value: Any, names: str) -> None:
    for part in value if isinstance(value, list) else [value]:
        if part not in names.split(", "):
            raise _refuse(name, part, f"String must be one of: {names}")


def _throttled(name: str, value: list[str], form: str) -> None:
    if value and value != ["*"] and not all(map(_THROTTLED.fullmatch, map(str.strip, value))):
        why = f"{name} must be the literal '*' or a list of replicas in the following format: "
        raise _refuse(name, value, why + form)


def _format(name: str, value: str, newest_and_quote: str) -> None:
    """A release's name, in full ("2.8-IV1") or without its stage ("2.8", "0.9.0")."""
    newest, _, quote = newest_and_quote.partition(" in ")
    known = MESSAGE_FORMATS[: MESSAGE_FORMATS.index(newest) + 1]
    digits = value.split(".")[: 3 if value.startswith("0.") else 2]
    short = ".".join(digits)
    if value not in known and not any(f.split("-")[0] == short for f in known):
        raise _refuse(name, value, f"Version {quote}{value}{quote} is not a valid version")


def format_order(value: str) -> int:
    """The place of a release among the formats; the last of its stages where none is named."""
    if value in MESSAGE_FORMATS:
        return MESSAGE_FORMATS.index(value)
    short = ".".join(value.split(".")[: 3 if value.startswith("0.") else 2])
    return max(at for at, known in enumerate(MESSAGE_FORMATS) if known.split("-")[0] == short)


# Tried in order: the first pattern that fits a rule's text checks the value.
_RULES: tuple[tuple[re.Pattern[str], Callable[[str, Any, str], None]], ...] = (
    (re.compile(r">= (.+)"), _at_least),
    (re.compile(r"(.+ \.\. .+) or -1"), _level),
    (re.compile(r"(.+ \.\. .+)"), _between),
    (re.compile(r"one of (.+)"), _one_of),
    (re.compile(r"not( )empty"), _filled),
    (re.compile(r"format up to (.+)"), _format),
    (re.compile(r"throttled as (.+)"), _throttled),
)


def is_true(text: str | None) -> bool:
    """Whether a setting says so, as Kafka reads it: trimmed, and in any case."""
    return text is not None and text.strip().lower() == "true"


def read(definition: ConfigDefinition, text: str) -> Any:
    """The value that `text` means; ValueRefused says why it means none."""
    trimmed = text.strip()
    try:
        value = _READERS[definition.type](trimmed)
    except ValueError as fault:
        raise _refuse(definition.name, text, str(fault)) from None
    if definition.rule:
        for pattern, check in _RULES:
            found = pattern.fullmatch(definition.rule)
            if found:
                check(definition.name, value, found[1])
                break
        else:
            raise LookupError(f"no check for the rule {definition.rule!r}")
    return value


def printed(definition: ConfigDefinition, text: str) -> str:
    """The value of `text` as Java prints it: trimmed, lists without spaces, booleans small."""
    value = _READERS[definition.type](text.strip())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    return _java_double(value) if isinstance(value, float) else str(value)


def _java_double(value: float) -> str:
    """Double.toString: plain between a thousandth and ten million, else with one digit before."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(d for p in range(18) if float(d := f"{value:.{p}e}") == value)
    mantissa, exponent = shortest.split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"
