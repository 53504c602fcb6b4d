"""Words of a target file in which `{port}` and the like stand for what is known at the start.

A template is text; a command is a list of templates. An inner list of a command stands together
and is left out when one of its placeholders is empty: `["serve", ["--rack", "{rack}"]]` gives
`--rack` only to a broker that has a rack. `{{name}}` stands for `{name}` itself. `str.format` was
rejected: every JSON or awk program in a file would have to double its braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

Command = tuple["str | tuple[str, ...]", ...]

_NAME = r"[A-Za-z_]+(?:\.[A-Za-z0-9_-]+)?"
_PLACEHOLDER = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}")
_NOT_A_LETTER = re.compile(r"[^A-Za-z0-9]")


def names(text: str) -> set[str]:
    """The placeholders of one template."""
    return {match[2] for match in _PLACEHOLDER.finditer(text) if match[2]}


def fill(text: str, values: Mapping[str, str]) -> str:
    """The template with its values; a placeholder without one is a KeyError."""
    return _PLACEHOLDER.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", text)


def words(command: Command) -> Iterator[str]:
    """Every template of a command."""
    for part in command:
        yield from (part,) if isinstance(part, str) else part


def argv(
    command: Command, values: Mapping[str, str], spliced: Mapping[str, Sequence[str]]
) -> list[str]:
    """The argument vector; a word that is only a placeholder of `spliced` becomes several words."""
    found: list[str] = []
    for part in command:
        if isinstance(part, tuple):
            filled = [fill(word, values) for word in part]
            mentioned = set().union(*(names(word) for word in part))
            found += filled if all(values[name] for name in mentioned) else []
        elif part.strip("{}") in spliced:
            found += spliced[part.strip("{}")]
        else:
            found.append(fill(part, values))
    return found


def spellings(key: str, value: str) -> dict[str, str]:
    """A setting's name as Kafka spells it, and as variables and configuration files do."""
    return {
        "key": key,
        "key_": _NOT_A_LETTER.sub("_", key),
        "KEY": _NOT_A_LETTER.sub("_", key).upper(),
        "value": value,
    }


def unknown(templates: Iterable[str], known: Iterable[str]) -> str | None:
    """The first placeholder that has no meaning here."""
    allowed = set(known)
    for text in templates:
        for name in sorted(names(text) - allowed):
            return name
    return None
