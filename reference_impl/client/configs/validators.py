"""Whether a value is one that a name accepts: the validators of ConfigDef, by their text.

The tables name a validator by what its toString prints, so that they can be compared with the jars:
`[0,...]` and `[1,...,9]` are ranges (both ends inclusive), `[a, b]` words, `(case insensitive) [A,
B]` words in any case. Where Java prints nothing or the same for two classes, the tables write
`list`, `non-empty list` (ValidList) and `mode [a, b]` (those of share consumers).

Sources: ConfigDef, CompressionType.GZIP.levelValidator, AutoOffsetResetStrategy.Validator,
ShareAcknowledgementMode.Validator, ShareAcquireMode.Validator at 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .parsing import ConfigException, invalid

_RANGE = re.compile(r"\[(.*?),\.\.\.(?:,(.*))?\]")
_DURATION = re.compile(r"P(?!$)(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?", re.IGNORECASE)


def check(name: str, value: Any, valid: str) -> None:
    """Raises ConfigException where the validator `valid` refuses the value of `name`."""
    if valid:
        next(rule for fits, rule in _RULES if fits.fullmatch(valid))(name, value, valid)


def without_duplicates(value: list[Any]) -> list[Any]:
    """Each element once, where it came first: what ConfigDef does to a ValidList."""
    return list(dict.fromkeys(value))


def _range(name: str, value: Any, valid: str) -> None:
    found = _RANGE.fullmatch(valid)
    assert found is not None
    low, high = found.groups()
    if value is None:
        raise invalid(name, None, "Value must be non-null")
    if value < float(low):
        raise invalid(name, value, f"Value must be at least {low}")
    if high and value > float(high):
        raise invalid(name, value, f"Value must be no more than {high}")


def _gzip_level(name: str, value: Any, _: str) -> None:
    if value != -1 and not 1 <= value <= 9:
        raise invalid(name, value, "Value must be between 1 and 9 or equal to -1")


def _words(valid: str) -> list[str]:
    return valid[valid.index("[") + 1 : -1].split(", ")


def _one_of(name: str, value: Any, valid: str) -> None:
    if value not in _words(valid):
        raise invalid(name, value, f"String must be one of: {', '.join(_words(valid))}")


def _one_of_any_case(name: str, value: Any, valid: str) -> None:
    if value is None or value.upper() not in _words(valid):
        why = f"String must be one of (case insensitive): {', '.join(_words(valid))}"
        raise invalid(name, value, why)


def _non_empty(name: str, value: Any, _: str) -> None:
    if value == "":
        raise invalid(name, value, "String must be non-empty")


def _non_null(name: str, value: Any, _: str) -> None:
    if value is None:
        raise invalid(name, value, "entry must be non null")


def _list(name: str, value: Any, valid: str) -> None:
    about = f"Configuration '{name}'"
    if value is None:
        raise ConfigException(f"{about} values must not be null.")
    if not value and valid.startswith("non-empty"):
        raise ConfigException(
            f"{about} must not be empty. Valid values include: any non-empty value"
        )
    if "" in value:
        raise ConfigException(f"{about} values must not be empty.")


def _named_by(name: str, value: Any, allowed: str) -> ConfigException:
    why = f"Invalid value `{value}` for configuration {name}. The value must {allowed}"
    return invalid(name, value, why)


def _mode(name: str, value: Any, valid: str) -> None:
    words = _words(valid)
    # ShareAcquireMode takes any case, ShareAcknowledgementMode only its own.
    taken = value.lower() if value and name == "share.acquire.mode" else value
    if taken not in words:
        raise _named_by(name, value, f"either be {_either(words)}.")


def _either(words: Iterable[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _offset_reset(name: str, value: Any, _: str) -> None:
    if value in ("earliest", "latest", "none"):
        return
    kind, _, duration = (value or "").partition(":")
    if kind != "by_duration" or not _DURATION.fullmatch(duration):
        allowed = (
            "be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        )
        raise _named_by(name, value, allowed)


# The first pattern that fits the whole text says which rule it is.
_RULES: tuple[tuple[re.Pattern[str], Callable[[str, Any, str], None]], ...] = (
    (re.compile(r"\[1,\.\.\.,9\] or -1"), _gzip_level),
    (_RANGE, _range),
    (re.compile(r"\[.*by_duration.*\]"), _offset_reset),
    (re.compile(r"mode \[.*\]"), _mode),
    (re.compile(r"\(case insensitive\) \[.*\]"), _one_of_any_case),
    (re.compile(r"non-empty string"), _non_empty),
    (re.compile(r"non-null string"), _non_null),
    (re.compile(r"(non-empty )?list"), _list),
    (re.compile(r"\[.*\]"), _one_of),
)
