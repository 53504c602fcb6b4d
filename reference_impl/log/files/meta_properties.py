"""`meta.properties`: whose log directory it is; a broker refuses one of another node or cluster.

Java's properties format, as far as ids need it, with the comment lines kept (the second one is the
date of writing, in Java's words), so that reading and writing is lossless. Version 0 belongs to
ZooKeeper mode and names a `broker.id` (and, from 2.x on, a `cluster.id`); version 1 to KRaft with
`node.id`, `cluster.id` and, since KIP-858, a `directory.id`.

Sources: BrokerMetadataCheckpoint at 1.0.2 and 2.8.2, MetaProperties at 3.9.2 and 4.3.1; KIP-112.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .errors import FileFormatError

_NODE_ID = {0: "broker.id", 1: "node.id"}
_ESCAPED = {"\\": "\\\\", ":": "\\:", "=": "\\=", "#": "\\#", "!": "\\!"}
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Properties:
    """The file as it stands: its comments and its pairs, both in their order."""

    pairs: Mapping[str, str]
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """What the file says about the directory."""

    version: int
    node_id: int | None = None
    cluster_id: str | None = None
    directory_id: str | None = None
    other: Mapping[str, str] = field(default_factory=dict)


def encode(properties: Properties) -> bytes:
    lines = [f"#{comment}" for comment in properties.comments]
    lines += [f"{_escape(key)}={_escape(value)}" for key, value in properties.pairs.items()]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def decode(data: bytes) -> Properties:
    pairs: dict[str, str] = {}
    comments: list[str] = []
    for number, line in enumerate(data.decode("latin-1").splitlines(), 1):
        if line.startswith("#"):
            comments.append(line[1:])
            continue
        key, separator, value = _split(line)
        if not separator:
            raise FileFormatError(number, f"no pair in {line!r}")
        pairs[key] = value
    return Properties(pairs, tuple(comments))


def properties_of(meta: MetaProperties, comments: tuple[str, ...] = ()) -> Properties:
    named = {
        _NODE_ID[meta.version]: meta.node_id,
        "directory.id": meta.directory_id,
        "version": meta.version,
        "cluster.id": meta.cluster_id,
        **meta.other,
    }
    return Properties({k: str(v) for k, v in named.items() if v is not None}, comments)


def meta_of(properties: Properties) -> MetaProperties:
    """FileFormatError unless version and ids are what Kafka writes."""
    left = dict(properties.pairs)
    version = _integer(left.pop("version", None), "version")
    if version not in _NODE_ID:
        raise FileFormatError(0, f"version {version} of meta.properties is unknown")
    node_id = left.pop(_NODE_ID[version], None)
    return MetaProperties(
        version,
        None if node_id is None else _integer(node_id, _NODE_ID[version]),
        left.pop("cluster.id", None),
        left.pop("directory.id", None),
        left,
    )


def _integer(text: str | None, name: str) -> int:
    try:
        return int(text or "")
    except ValueError:
        raise FileFormatError(0, f"{name} is {text!r}, not a number") from None


def _escape(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def _split(line: str) -> tuple[str, str, str]:
    """Key, the separator that was found, value; a backslash keeps what follows it."""
    parts: tuple[list[str], list[str]] = ([], [])
    separator, characters = "", iter(line)
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            parts[bool(separator)].append(_PLAIN.get(following, following))
        elif character in "=:" and not separator:
            separator = character
        else:
            parts[bool(separator)].append(character)
    return "".join(parts[0]), separator, "".join(parts[1])
