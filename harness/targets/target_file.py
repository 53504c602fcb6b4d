"""The format of a target file: what somebody writes down about a broker so that we can judge it.

    name = "kfake"                          # what rows, pins and `--target` call it
    about = "one line"                      # whose it is and what it is
    version = "0.1.0"
    release = "4.3"                         # the Kafka release it compares itself with, if it does
    tried = "2026-11-22"                    # the day it was judged here; absent: not tried
    pins = "kfake.pins.toml"                # accepted divergences (harness/known), beside this file

It gives either `address` (of what runs already, with a `[control]` table of commands) or `[start]`
(how to start it, with `[build]` for what must be made once). `files/README.md` explains every key.

Everything about the file itself is checked here, before anything runs: each mistake is one line
that names the file, the key and what to write in its place. Whether the machine has the tools and
whether the broker starts is found out later (`tools`, `described_cluster`).
"""

from __future__ import annotations

import datetime
import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from touchstone.harness.model import bounded
from touchstone.harness.model.target import Address
from touchstone.harness.targets import UnknownTarget, addresses, matrix, templates
from touchstone.harness.targets.description import (
    CARRIERS,
    OF_A_SETTING,
    PER,
    PLACEHOLDERS,
    VERBS,
    Before,
    Build,
    Description,
    Handover,
    Ready,
    Start,
)
from touchstone.harness.targets.templates import Command

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_BUILDING = ("cache", "here", "python", "harness", "release")

# A kind turns a value of the file into ours; its ValueError says what to give instead.
Kind = Callable[[Any], Any]
_REQUIRED = object()


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("give a text")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("give letters, digits, dots and dashes")
    return value


def _whole(lowest: int, highest: int) -> Kind:
    def kind(value: Any) -> int:
        if type(value) is not int or not lowest <= value <= highest:
            raise ValueError(f"give a whole number from {lowest} to {highest}")
        return value

    return kind


def _one_of(words: tuple[str, ...]) -> Kind:
    def kind(value: Any) -> str:
        if value not in words:
            raise ValueError(f"give one of {', '.join(words)}")
        return value

    return kind


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value <= 86400:
        raise ValueError("give a number of seconds")
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false")
    return value


def _day(value: Any) -> datetime.date:
    if type(value) is datetime.date:
        return value
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError('give a day, as "2026-11-22"') from None


def _release(value: Any) -> str:
    try:
        return matrix.release(_text(value)).name
    except ValueError as error:
        raise ValueError(f"give a release ({error})") from None


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise ValueError("give a list of texts")
    return tuple(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_name(each) for each in _texts(value))


def _command(value: Any) -> Command:
    if isinstance(value, str):
        value = shlex.split(value)
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise ValueError('give a command, as ["program", "--port", "{port}"]')
    return tuple(each if isinstance(each, str) else _texts(each) for each in value)


def _commands(value: Any) -> tuple[Command, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError('give a list of commands, as [["go", "build"]]')
    return tuple(_command(each) for each in value)


def _arguments(value: Any) -> Command:
    """A command's words without its program; an image has one of its own."""
    return _command(["image", *value])[1:] if isinstance(value, list) else _command(value)


def _each(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else _texts(value)


def _pairs(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or any(isinstance(each, dict | list) for each in value.values()):
        raise ValueError("give a table of names and texts")
    return {
        key: str(each).lower() if isinstance(each, bool) else str(each)
        for key, each in value.items()
    }


def _properties(value: Any) -> dict[str, str]:
    """A table of Kafka's names, whose dots TOML takes for tables in tables."""
    found: dict[str, str] = {}
    for key, inner in _table(value).items():
        if isinstance(inner, dict):
            found |= {f"{key}.{name}": text for name, text in _properties(inner).items()}
        else:
            found |= _pairs({key: inner})
    return found


def _brokers(value: Any) -> tuple[int, ...] | None:
    listed = value if isinstance(value, list) else [value]
    if value == "any":
        return None
    if not listed or not all(type(each) is int and each > 0 for each in listed):
        raise ValueError('give how many it can have: 3, [1, 3] or "any"')
    return tuple(sorted(listed))


def _pattern(value: Any) -> re.Pattern[str]:
    try:
        return re.compile(_text(value), re.MULTILINE)
    except re.error as error:
        raise ValueError(f"give a regular expression ({error})") from None


def _addresses(value: Any) -> tuple[Address, ...]:
    try:
        return addresses(_text(value))
    except UnknownTarget:
        raise ValueError("give HOST:PORT[,HOST:PORT]") from None


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("give a table")
    return value


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ValueError("give a list of tables")
    return value


# table: {key: (kind, what it is when it is absent)}
SCHEMA: dict[str, dict[str, tuple[Kind, Any]]] = {
    "": {
        "name": (_name, _REQUIRED),
        "about": (_text, _REQUIRED),
        "version": (_text, _REQUIRED),
        "release": (_release, None),
        "tried": (_day, None),
        "pins": (_text, None),
        "address": (_addresses, ()),
        "control": (_table, {}),
        "build": (_table, None),
        "start": (_table, None),
        "ready": (_table, {}),
        "settings": (_pairs, {}),
        "command_config": (_text, None),
        "client": (_properties, {}),
    },
    "control": dict.fromkeys(VERBS, (_command, None)),
    "build": {
        "commands": (_commands, _REQUIRED),
        "needs": (_texts, ()),
        "files": (_text, None),
        "seconds": (_whole(1, 86400), 1800),
    },
    "start": {
        "command": (_arguments, None),
        "image": (_text, None),
        "publish": (_texts, ()),
        "needs": (_texts, ()),
        "per": (_one_of(PER), "broker"),
        "brokers": (_brokers, (1,)),
        "first_node": (_whole(0, 2**31 - 1), 0),
        "host": (_text, "127.0.0.1"),
        "port": (_whole(1, 65535), None),
        "other_ports": (_names, ()),
        "environment": (_pairs, {}),
        "files": (_pairs, {}),
        "lists": (_pairs, {}),
        "settings": (_table, None),
        "before": (_tables, []),
    },
    "start.settings": {
        "as": (_one_of(CARRIERS), _REQUIRED),
        "each": (_each, _REQUIRED),
        "known": (_texts, ()),
        "names": (_pairs, {}),
    },
    "start.before": {
        "name": (_name, _REQUIRED),
        "command": (_command, _REQUIRED),
        "environment": (_pairs, {}),
        "output": (_pattern, None),
    },
    "ready": {
        "output": (_pattern, None),
        "controller": (_flag, False),
        "seconds": (_seconds, 60.0),
    },
}


def load(file: Path) -> Description:
    """The file as a Description. Raises UnknownTarget with one line that says what to mend."""
    found = read_table(file, "", rows_of(file))
    described = Description(
        **{
            **found,
            "file": file,
            "pins": beside(file, "pins", found["pins"]),
            "command_config": beside(file, "command_config", found["command_config"]),
            "control": _control(file, found),
            "build": build_of(file, found["build"]),
            "start": _start(file, found["start"]),
            "ready": Ready(**read_table(file, "ready", found["ready"])),
        }
    )
    _check(described)
    return described


def rows_of(file: Path) -> dict[str, Any]:
    """The file as TOML has it. Raises UnknownTarget."""
    try:
        return bounded.toml_of(file)
    except OSError as error:
        raise UnknownTarget(f"target file {file}: {error.strerror}") from None
    except ValueError as error:
        raise UnknownTarget(f"target file {file}: not TOML: {error}") from None


def _wrong(file: Path, key: str, text: str) -> UnknownTarget:
    return UnknownTarget(f"target file {file}: {key}: {text}")


def read_table(
    file: Path, table: str, rows: Mapping[str, Any],
    form: Mapping[str, Mapping[str, tuple[Kind, Any]]] = SCHEMA,
) -> dict[str, Any]:  # fmt: skip
    """The table's rows by its schema. Raises UnknownTarget."""
    schema = form[table]
    prefix = f"{table}." if table else ""
    for key in rows:
        if key not in schema:
            near = difflib.get_close_matches(key, schema, 1)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"there are {', '.join(schema)}"
            raise _wrong(file, f"{prefix}{key}", f"no such key; {hint}")
    found = {}
    for key, (kind, absent) in schema.items():
        if key in rows:
            try:
                found[key] = kind(rows[key])
            except ValueError as error:
                shown = "what is there" if key == "client" else repr(rows[key])
                shown = shown if len(shown) < 60 else f"{shown[:56]}..."
                raise _wrong(file, f"{prefix}{key}", f"{error}, not {shown}") from None
        elif absent is _REQUIRED:
            raise _wrong(file, f"{prefix}{key}", "it is missing; every target file has it"
                         if not table else f"it is missing; [{table}] needs it")  # fmt: skip
        else:
            found[key] = absent
    return found


def beside(file: Path, key: str, name: str | None) -> Path | None:
    """A path of the file, relative to it."""
    if name is None:
        return None
    path = file.parent / name
    if not path.exists():
        raise _wrong(file, key, f"there is no {path}")
    return path


def _control(file: Path, found: Mapping[str, Any]) -> dict[str, Command]:
    given = read_table(file, "control", found["control"])
    rows = {key: value for key, value in given.items() if value}
    for verb, command in rows.items():
        name = templates.unknown(templates.words(command), ("node", "host", "port", "here"))
        if name:
            raise _wrong(
                file, f"control.{verb}",
                f"{{{name}}} is no placeholder; there are {{node}}, {{host}}, {{port}}, {{here}}",
            )  # fmt: skip
    if rows and not found["address"]:
        raise _wrong(file, "control", "it is for what runs already: give address, or leave it out")
    return rows


def build_of(file: Path, rows: Mapping[str, Any] | None) -> Build | None:
    if rows is None:
        return None
    found = read_table(file, "build", rows)
    found["files"] = beside(file, "build.files", found["files"])
    for number, command in enumerate(found["commands"]):
        _placeholders(file, f"build.commands[{number}]", templates.words(command), _BUILDING)
    return Build(**found)


def _start(file: Path, rows: Mapping[str, Any] | None) -> Start | None:
    if rows is None:
        return None
    found = read_table(file, "start", rows)
    if not found["command"] and not found["image"]:
        raise _wrong(file, "start.command", "it is missing; give a command, or an image")
    if found["publish"] and not found["image"]:
        raise _wrong(file, "start.publish", "only an image has ports to publish")
    found["before"] = tuple(_before(file, found, each) for each in found["before"])
    ports = (*found["other_ports"], *(each.name for each in found["before"]))
    known = {*PLACEHOLDERS, *found["lists"], *_port_names(ports)}
    found["settings"] = _handover(file, found["settings"])
    found["command"] = found["command"] or ()
    start = Start(**found)
    for key, texts in _texts_of(start):
        _placeholders(file, f"start.{key}", texts, known)
    _settings_arrive(file, start)
    return start


def _before(file: Path, found: Mapping[str, Any], rows: Mapping[str, Any]) -> Before:
    made = Before(**read_table(file, "start.before", rows))
    known = {*_BUILDING, "host", "folder", "data", "cluster"}
    known |= set(_port_names((*found["other_ports"], made.name)))
    texts = [*templates.words(made.command), *made.environment.values()]
    _placeholders(file, "start.before", texts, known)
    return made


def _handover(file: Path, rows: Mapping[str, Any] | None) -> Handover | None:
    if rows is None:
        return None
    found = read_table(file, "start.settings", rows)
    _placeholders(file, "start.settings.each", found["each"], OF_A_SETTING)
    if found["as"] == "environment" and not all("=" in each for each in found["each"]):
        raise _wrong(file, "start.settings.each", 'give NAME=VALUE, as "KAFKA_{KEY}={value}"')
    return Handover(found["as"], found["each"], found["known"], found["names"])


def _port_names(names: tuple[str, ...]) -> list[str]:
    return [f"{word}.{name}" for name in names for word in ("port", "ports")]


def _texts_of(start: Start) -> Iterator[tuple[str, list[str]]]:
    yield "command", list(templates.words(start.command))
    yield "publish", list(start.publish)
    for table in ("environment", "files", "lists"):
        for key, text in getattr(start, table).items():
            yield f"{table}.{key}", [text]


def _placeholders(file: Path, key: str, texts: Any, known: Any) -> None:
    name = templates.unknown(texts, known)
    if name:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(sorted(known))}"
        raise _wrong(file, key, f"{{{name}}} is no placeholder; {hint}")


def _settings_arrive(file: Path, start: Start) -> None:
    """Settings that are handed over have a place to go to, and no place waits for none."""
    carrier = start.settings.carrier if start.settings else None
    in_command = "{settings}" in start.command
    in_files = any("settings" in templates.names(text) for text in start.files.values())
    wanted = (carrier == "arguments", carrier == "file")
    if (in_command, in_files) == wanted:
        return
    where = {
        "arguments": 'put "{settings}" as a word of its own into start.command, and nowhere else',
        "file": "put {settings} into a file of [start.files], and nowhere else",
        "environment": 'with as = "environment" nothing mentions {settings}',
        None: "{settings} is used, but there is no [start.settings] that says how",
    }
    raise _wrong(file, "start.settings", where[carrier])


def _check(described: Description) -> None:
    file = described.file
    if bool(described.address) == (described.start is not None):
        both = "not both" if described.address else "there is neither"
        raise _wrong(
            file, "address", f"give the address of what runs, or [start] to start it; {both}"
        )
    if described.build is not None and described.start is None:
        raise _wrong(file, "build", "there is no [start] that would use what is built")
    if described.start is None and described.ready != Ready():
        raise _wrong(file, "ready", "it is for what we start: give [start], or leave it out")
    if described.client and described.command_config:
        raise _wrong(file, "client", "give it, or command_config, not both")
    start = described.start
    texts = list(start.texts()) if start else []
    if described.build is None and _mention(texts, "cache"):
        raise _wrong(file, "start", "{cache} is used, but there is no [build] that fills it")
    for command in described.build.commands if described.build else ():
        texts += templates.words(command)
    if described.release is None and _mention(texts, "release"):
        raise _wrong(file, "release", "it is missing, and {release} is used")
    if start and described.ready.tells_addresses and start.per == "broker":
        raise _wrong(
            file, "ready.output",
            'only one process for all brokers chooses its ports: give start.per = "cluster"',
        )  # fmt: skip


def _mention(texts: list[str], name: str) -> bool:
    return any(name in templates.names(text) for text in texts)
