"""Schema facts as Kafka's own jars state them: the message JSON, and what `Protocol` prints.

Two readers that share nothing with the script that once drew our literals, nor with `wire.schema`'s
own parsing, beyond the rule for turning Kafka's camel case into our names.
"""

import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

PRIMITIVES = {
    "bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "string", "bytes",
    "records", "uuid",
}  # fmt: skip
NOTHING = b""
ZERO = {"bool": False, "float64": 0.0, "string": "", "bytes": NOTHING, "records": NOTHING} | {
    "uuid": bytes(16)
}


@dataclass
class Fact:
    """One field in one version."""

    name: str
    type: str
    nullable: bool = False
    tag: int | None = None
    default: object = None
    ignorable: bool = False
    fields: list["Fact"] = field(default_factory=list)


def messages(home: Path) -> dict[str, dict]:
    """Every message of a release by name, from all of Kafka's own jars."""
    found = {}
    for jar in sorted(home.glob("kafka*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if re.search(r"message/\w+\.json$", entry):
                    text = re.sub(r"^\s*//.*$", "", archive.read(entry).decode(), flags=re.M)
                    text = re.sub(r"\s//[^\"\n]*$", "", text, flags=re.M).strip()
                    message = json.JSONDecoder().raw_decode(text)[0]
                    found[message["name"]] = message
    return found


def within(versions: str | None, version: int) -> bool:
    if versions in (None, "", "none"):
        return False
    low, _, high = versions.rstrip("+").partition("-")
    top = int(high) if high else 1 << 15 if versions.endswith("+") else int(low)
    return int(low) <= version <= top


def versions_of(message: dict) -> range:
    if message["validVersions"] == "none":
        return range(0)
    low, _, high = message["validVersions"].partition("-")
    return range(int(low), int(high or low) + 1)


def facts(message: dict, version: int) -> list[Fact]:
    shared = {each["name"]: each["fields"] for each in message.get("commonStructs", [])}
    return [
        _fact(row, version, shared)
        for row in message["fields"]
        if within(row.get("versions") or row.get("taggedVersions"), version)
    ]


def _fact(row: dict, version: int, shared: dict) -> Fact:
    array, base = row["type"].startswith("[]"), row["type"].removeprefix("[]")
    struct = base not in PRIMITIVES
    children = row.get("fields") or shared.get(base, []) if struct else []
    return Fact(
        name=our_name(row["name"]),
        type=("[]" if array else "") + ("struct" if struct else base),
        nullable=within(row.get("nullableVersions"), version),
        tag=int(row["tag"]) if within(row.get("taggedVersions"), version) else None,
        default=_default(row, base, array, struct),
        ignorable=bool(row.get("ignorable", False)),
        fields=[
            _fact(child, version, shared)
            for child in children
            if within(child.get("versions") or child.get("taggedVersions"), version)
        ],
    )


def _default(row: dict, base: str, array: bool, struct: bool) -> object:
    """`...` stands for a struct's own default, which is made of its fields'."""
    said = row.get("default", ...)
    if said is None:
        said = ...  # Kafka's generator takes a JSON null for "not said"; a null default is "null"
    if said == "null":
        return None
    if struct and not array:
        return ...
    if array:
        return []
    if said is ...:
        return ZERO.get(base, 0)
    if base == "bool":
        return str(said).lower() == "true"
    if base == "float64":
        return float(said)
    return said if base == "string" else int(str(said), 0)


def our_name(name: str) -> str:
    name = name.replace("KRaft", "Kraft")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


HEAD = re.compile(r"<pre>(\w+) (Request|Response) \(Version: (\d+)\) => ?(.*?)</pre>", re.S)


def printed(html: str) -> dict[tuple[str, str, int], list]:
    """(API, direction, version) -> a tree of [is array, what]; `what` is a type or a list."""
    return {
        (api, kind, int(version)): _tree(body) for api, kind, version, body in HEAD.findall(html)
    }


def _tree(body: str) -> list:
    first, *rest = body.rstrip().split("\n")
    lines = [(len(line) - len(line.lstrip()), *_halves(line)) for line in rest if line.strip()]
    return _children(first.split(), lines, 2, [0])


def _halves(line: str) -> tuple[str, str]:
    name, _, what = line.partition("=>")
    return name.strip(), what.strip()


def _children(words: list[str], lines: list, depth: int, at: list[int]) -> list:
    """The fields named in `words`, each defined by the next line of this depth."""
    found = []
    for word in words:
        if word == "TAG_BUFFER" or word.startswith("<"):
            continue
        array = word.startswith("[")
        indent, name, what = lines[at[0]]
        assert (indent, name) == (depth, word.strip("[]")), (lines[at[0]], word)
        at[0] += 1
        deeper = at[0] < len(lines) and lines[at[0]][0] > depth
        if deeper or not what or what == "TAG_BUFFER":
            found.append([array, _children(what.split(), lines, depth + 2, at)])
        else:
            found.append([array, what])
    return found
