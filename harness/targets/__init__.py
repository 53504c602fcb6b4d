"""From the word after `--target` to a Target.

    reference[@4.3]        our broker in this process, with the persona of a release; defects can be
                           planted in it: reference@4.3+crc-not-checked
    recorded@4.3           Kafka's stored answers; nothing runs
    kafka@4.3[.1]          Apache Kafka on this machine's Java, any version from 1.0.0 on; FOLDER in
                           place of a version: the jars in it
    docker@4.3[.1]         Apache Kafka in a container
    HOST:PORT[,HOST:PORT]  a broker somebody else runs; [::1]:9092 for IPv6
    FILE.toml              a broker that this file describes: where it runs, or how to start it
    kfake, kafka-4.3, ...  one of the files that we ship, by its name (`files/`)

Only this table knows which module stands behind which word, and a module is imported when its word
is used: a run on recordings must not need Java, nor a run on Java the Docker packages. Adding a
target is one file here and one row.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.extras import absent
from touchstone.harness.model.target import Address, Endpoint, Shape, Target, Unavailable, Versions
from touchstone.harness.names import did_you_mean
from touchstone.harness.targets import released


@dataclass(frozen=True, slots=True)
class Word:
    """Where a word's Target is made: `attribute(version)` in `module`."""

    module: str
    attribute: str
    default: str | None = None  # the release when none is named; None: one must be named


WORDS: dict[str, Word] = {
    "reference": Word("touchstone.harness.targets.reference", "ReferenceTarget", "latest"),
    "recorded": Word("touchstone.harness.targets.recorded", "RecordedTarget"),
    "kafka": Word("touchstone.harness.targets.process", "KafkaProcess"),
    "docker": Word("touchstone.harness.targets.container", "KafkaContainers"),
}
EXTERNAL = Word("touchstone.harness.targets.external", "ExternalTarget")
DESCRIBED = Word("touchstone.harness.targets.described", "DescribedTarget")
FILE, PINS = ".toml", ".pins.toml"  # a target file, and the accepted divergences beside it
SHIPPED = Path(__file__).resolve().parent / "files"

_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:@,\s]+):(?P<port>\d{1,5})")


class UnknownTarget(ValueError):
    """The word names no target; the message says which part of it is wrong."""


def shipped() -> dict[str, Path]:
    """The target files that come with the harness, by name."""
    files = (path for path in SHIPPED.glob(f"*{FILE}") if not path.name.endswith(PINS))
    return {path.name.removesuffix(FILE): path for path in sorted(files)}


def parse(spec: str) -> Target:
    """The Target that `spec` names. Nothing is started, and nothing is looked for yet, but Maven
    may be asked which versions there are.
    """
    file = file_of(spec)
    if file is not None:
        return _made(spec, DESCRIBED, file)
    word, at, named = spec.strip().partition("@")
    folder = released.is_folder(named)  # in whose name may be a plus
    text, *switches = [spec.strip()] if folder else spec.strip().split("+")
    word, at, version = text.partition("@")
    if switches and word != "reference":
        raise UnknownTarget(f"target {spec!r}: only in the reference broker can defects be planted")
    if word in WORDS:
        how = {"switches": switches} if switches else {}
        return _made(text, WORDS[word], _version(text, word, at, version), **how)
    if at:
        known = ", ".join(WORDS)
        hint = did_you_mean(word, WORDS)
        raise UnknownTarget(f"target {spec!r}: {word!r} is none of {known}{hint}; {_or_a_file()}")
    return _made(text, EXTERNAL, addresses(spec))


def file_of(spec: str) -> Path | None:
    """The target file that `spec` names, None where it names another kind of target."""
    word = spec.strip()
    return Path(word).expanduser() if word.endswith(FILE) else shipped().get(word)


def addresses(spec: str) -> tuple[Address, ...]:
    """HOST:PORT[,HOST:PORT...] as pairs."""
    found = []
    for part in spec.split(","):
        match = _ADDRESS.fullmatch(part.strip())
        if not match:
            hint = did_you_mean(part.strip(), [*WORDS, *shipped()])
            raise UnknownTarget(
                f"target {spec!r}: {part.strip()!r} is neither HOST:PORT nor one of "
                f"{', '.join(f'{word}@VERSION' for word in WORDS)}{hint}; {_or_a_file()}"
            )
        port = int(match["port"])
        if not 0 < port < 65536:
            raise UnknownTarget(f"target {spec!r}: {port} is no port (1 to 65535)")
        found.append((match["host"].strip("[]"), port))
    return tuple(found)


def _or_a_file() -> str:
    return f"or give a target file (NAME{FILE}), or one of ours: {', '.join(shipped())}"


def _version(spec: str, word: str, at: str, version: str) -> str:
    """What the user wrote after the word, or what is meant where nothing is."""
    wanted = version if at else WORDS[word].default
    if not wanted:
        raise UnknownTarget(f"target {spec!r}: {word} needs a release, as in {word}@4.3")
    return wanted


def _made(spec: str, word: Word, argument: object, **how: object) -> Target:
    """The Target; one whose Python package is missing is a Target that says so."""
    try:
        module = importlib.import_module(word.module)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] == "touchstone":
            raise  # our own file is missing: a broken harness, not a smaller machine
        return Absent(spec, absent(missing.name))
    try:
        return getattr(module, word.attribute)(argument, **how)
    except UnknownTarget:
        raise  # a target file names itself and the key that is wrong
    except ValueError as error:
        raise UnknownTarget(f"target {spec!r}: {error}") from None


class Absent:
    """A target that cannot even be asked, because an extra of this package is not installed."""

    def __init__(self, spec: str, reason: str) -> None:
        self.name, self.reason = spec, reason
        self.release: str | None = None
        self.kind = "container"

    def available(self) -> str | None:
        return self.reason

    def start(self, shape: Shape) -> Endpoint:
        raise Unavailable(self.reason)

    def advertised(self) -> Versions:
        raise Unavailable(self.reason)

    def stop(self) -> None:
        """Nothing was started."""
