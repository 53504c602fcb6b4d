"""Every version of Apache Kafka that can be run: the recorded ones, Maven's others, a folder's.

Which versions there are, Maven knows: its list is asked for through the user's own Maven where a
word names no version that is known to be out, or no patch, and is kept in the cache for a day.
Where Maven cannot be asked, what was out when this was written (`OUT`) has to do.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import matrix
from touchstone.harness.targets.cache import cache_dir, locked
from touchstone.harness.targets.java import find_java, find_maven
from touchstone.harness.targets.matrix import UnknownRelease
from touchstone.harness.targets.release import OLDEST, Release, number
from touchstone.harness.writable import write_whole

DAY_S, JUST_NOW_S = 86_400, 600
ASK_SECONDS = 120
KEPT = "kafka-versions.txt"

# The newest patch of each minor release on 2026-11-28; every patch before it was released, too.
OUT = (
    "1.0.2 1.1.1 2.0.1 2.1.1 2.2.2 2.3.1 2.4.1 2.5.1 2.6.3 2.7.2 2.8.2 3.0.2 3.1.2 3.2.3 3.3.2"
    " 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1 3.9.2 4.0.2 4.1.2 4.2.2 4.3.1 4.4.0"
)

_WORD = re.compile(r"\d+(\.\d+){1,3}")
_FINAL = re.compile(r"\d+\.\d+\.\d+")
_BROKER = re.compile(r"kafka_2\.\d+-(?P<version>\d+\.\d+\.\d+([.-](SNAPSHOT|rc\d+))?)\.jar")
# A range of one version: Maven reads the list to resolve it, and fetches that version's project.
_ARTIFACT, _ASKED = "kafka-clients", "1.0.0"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>touchstone</groupId><artifactId>versions</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>{_ARTIFACT}</artifactId>
<version>[{_ASKED},{_ASKED}]</version><type>pom</type>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency></dependencies>
</project>
"""
_failed: dict[Path, str] = {}  # by cache: why Maven cannot be asked, which it is not twice


def find(word: str) -> Release:
    """Return the release that "3.6.2", "3.6" (its newest patch), "latest" (the newest that is
    recorded) or a folder of jars names. The name of a recorded release means the recorded patch.

    Raise UnknownRelease, with the nearest that exist.
    """
    if (recorded := matrix.find(word)) is not None:
        return recorded
    if is_folder(word):
        return of_folder(word)
    if not _WORD.fullmatch(word):
        raise UnknownRelease(f"{word!r} is no version of Kafka, as 3.6 or 3.6.2, and no folder")
    # A patch that is out needs no question; which one is the newest may change every day.
    for oldest_s in (None if _FINAL.fullmatch(word) else DAY_S, JUST_NOW_S):
        if wanted := _newest(word, known(oldest_s)):
            return Release(wanted)
    near = ", ".join(nearest(word, known()))
    why = f" (Maven was not asked: {_failed[cache_dir()]})" if cache_dir() in _failed else ""
    raise UnknownRelease(
        f"Kafka {word!r} is no version that Maven has from 1.0.0 on; nearest: {near}{why}"
    )


def is_folder(word: str) -> bool:
    """Whether a word means a folder: one with a / in it, or that is there."""
    return os.sep in word or word.startswith("~") or (not _WORD.fullmatch(word) and _there(word))


def _there(word: str) -> bool:
    return bool(word) and Path(word).is_dir()


def of_folder(word: str) -> Release:
    """Return the release whose broker's jar lies in a folder, or in its `libs`. Raise
    UnknownRelease.
    """
    folder = Path(word).expanduser().resolve()
    if not folder.is_dir():
        raise UnknownRelease(f"{word}: there is no such folder")
    for place in (folder, folder / "libs"):
        jars = sorted(jar.name for jar in place.glob("*.jar"))
        brokers = [match for match in map(_BROKER.fullmatch, jars) if match]
        if len(brokers) > 1:
            names = " and ".join(match[0] for match in brokers)
            raise UnknownRelease(f"{word}: there are several brokers in it, {names}")
        if brokers:
            return Release(brokers[0]["version"], folder=place)
    raise UnknownRelease(
        f"{word}: there is no broker's jar in it or its libs (kafka_2.13-VERSION.jar)"
    )


def nearest(word: str, versions: frozenset[str]) -> list[str]:
    """Return the patches of the same minor release, else the version before and the one after."""
    wanted, ordered = number(word), sorted(versions, key=number)
    same = [one for one in ordered if number(one)[:2] == wanted[:2]]
    before = [one for one in ordered if number(one) < wanted]
    after = [one for one in ordered if number(one) > wanted]
    return same or before[-1:] + after[:1]


def known(oldest_s: float | None = None) -> frozenset[str]:
    """Return the versions that are known to be out; Maven's list as it was at most `oldest_s`
    seconds ago, where one is given and Maven can be asked.
    """
    cache = cache_dir()
    kept = cache / KEPT
    if oldest_s is not None and _age_s(kept) > oldest_s and cache not in _failed:
        try:
            _keep(kept, of_maven())
        except Unavailable as missing:
            _failed[cache] = missing.reason
    listed = kept.read_text(encoding="ascii").split() if kept.exists() else []
    return out() | frozenset(listed)


def of_maven() -> list[str]:
    """Return the versions from 1.0.0 on that the user's Maven knows. Raise Unavailable."""
    maven, java = find_maven(), find_java()
    with tempfile.TemporaryDirectory(prefix="touchstone-versions-") as folder:
        project, path = Path(folder) / "pom.xml", Path(folder) / "path"
        project.write_text(_POM, encoding="utf-8")
        argv = [str(maven), "-q", "-B", "-U", "-f", str(project), "dependency:build-classpath"]
        try:
            said = subprocess.run(
                [*argv, f"-Dmdep.outputFile={path}"], capture_output=True, text=True, check=False,
                timeout=ASK_SECONDS, env={**os.environ, "JAVA_HOME": str(java.home)},
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unavailable(f"Maven told no versions in {ASK_SECONDS} s") from None
        if said.returncode or not path.exists():
            raise Unavailable(f"Maven told no versions: {cause(said.stdout)}")
        fetched = Path(path.read_text(encoding="utf-8").strip())
    # Its list lies two folders above, one for each registry that it was read from.
    lists = fetched.parents[1].glob("maven-metadata-*.xml")
    told = {one.text or "" for file in lists for one in ElementTree.parse(file).iter("version")}
    found = [one for one in told if _FINAL.fullmatch(one) and number(one) >= OLDEST]
    if not found:
        raise Unavailable("Maven told no versions")
    return sorted(found, key=number)


def cause(output: str) -> str:
    """Return what Maven says is wrong, of its whole output."""
    errors = [line for line in output.splitlines() if line.startswith("[ERROR]")]
    return (errors[0][len("[ERROR] ") :] if errors else "it said nothing")[:400]


def _newest(word: str, versions: frozenset[str]) -> str | None:
    """Return the newest version that is the word, or begins with it."""
    wanted = number(word)
    of_it = [one for one in versions if number(one)[: len(wanted)] == wanted]
    return max(of_it, key=number, default=None)


def out() -> frozenset[str]:
    newest = map(number, OUT.split())
    return frozenset(
        f"{major}.{minor}.{patch}" for major, minor, last in newest for patch in range(last + 1)
    )


def _age_s(file: Path) -> float:
    return time.time() - file.stat().st_mtime if file.exists() else float("inf")


def _keep(kept: Path, versions: list[str]) -> None:
    with locked(kept):
        write_whole(kept, "\n".join(versions) + "\n")
