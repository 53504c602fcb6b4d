"""Apache Kafka as jars from Maven Central, fetched by the user's own Maven.

Which registry, mirror or proxy is asked is the business of the user's Maven settings; no host is
named here. What is fetched follows from the version (`release`): the broker's artifact with its
run-time dependencies, and what stands beside it. The result is a folder of jars per set of
coordinates; once it is there, neither Maven nor the network is needed again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.java import find_java, find_maven
from touchstone.harness.targets.release import Release
from touchstone.harness.targets.released import cause, find

FETCH_SECONDS = 600

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>touchstone</groupId><artifactId>jars</artifactId><version>1</version>
<dependencies>
{dependencies}
</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)


def kafka_home(wanted: Release | str, *more: str) -> Path:
    """The folder of a release's jars, fetched on first use; Unavailable when that fails.

    `more` are artifacts of the same release beside the broker ("kafka-streams"); jars with them
    have a folder of their own, since few want them.
    """
    wanted = find(wanted) if isinstance(wanted, str) else wanted
    if wanted.folder is not None:
        return wanted.folder
    beside = (f"org.apache.kafka:{name}:{wanted.version}" for name in more)
    found = _home(wanted.version, (*wanted.artifacts, *beside), cache_dir())
    if isinstance(found, str):
        raise Unavailable(found)
    return found


@functools.cache
def _home(version: str, artifacts: tuple[str, ...], cache: Path) -> Path | str:
    """The folder, or why there is none: a registry that timed out is not asked again all day."""
    digest = hashlib.sha256(" ".join(artifacts).encode()).hexdigest()[:8]
    entry = cache / f"kafka-{version}-{digest}"
    try:
        return kept(entry, lambda folder: _fetch(version, artifacts, folder))
    except Unavailable as missing:
        return missing.reason


def jars_name(home: Path) -> str:
    """Return a name for these jars, another one when any of them is replaced: the folder that they
    have formatted is kept by it.
    """
    if home.parent == cache_dir():
        return home.name  # nobody replaces those
    jars = ((jar.name, jar.stat()) for jar in sorted(home.glob("*.jar")))
    told = " ".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in jars)
    return f"folder-{hashlib.sha256(f'{home} {told}'.encode()).hexdigest()[:12]}"


def broker_jar(wanted: Release) -> tuple[str, str]:
    """The name and the sha256 of the jar that is this release's broker."""
    (jar,) = kafka_home(wanted).glob(f"kafka_2.*-{wanted.version}.jar")
    return jar.name, _sha256(jar)


@functools.cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def class_path(home: Path) -> str:
    """Every jar by name, sorted: a class data archive is only valid for the very same path."""
    return os.pathsep.join(str(jar) for jar in sorted(home.glob("*.jar")))


def pom(artifacts: Iterable[str]) -> str:
    """A project whose only purpose is to depend on these."""
    lines = [
        _DEPENDENCY.format(*(escape(part) for part in artifact.split(":")))
        for artifact in artifacts
    ]
    return _POM.format(dependencies="\n".join(lines))


def _fetch(version: str, artifacts: tuple[str, ...], folder: Path) -> None:
    """Fill `folder` with jars; Maven's words on failure, since the cause is in its settings."""
    maven, java = find_maven(), find_java()
    project = folder / "pom.xml"
    project.write_text(pom(artifacts), encoding="utf-8")
    argv = [str(maven), "-q", "-B", "-f", str(project), "dependency:copy-dependencies"]
    argv += [f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    environment = {**os.environ, "JAVA_HOME": str(java.home)}
    try:
        said = subprocess.run(
            argv, capture_output=True, text=True, timeout=FETCH_SECONDS, env=environment,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven fetched no Kafka {version} in {FETCH_SECONDS} s") from None
    if said.returncode or not list(folder.glob("kafka-clients-*.jar")):
        raise Unavailable(f"Maven fetched no Kafka {version}: {cause(said.stdout)}")
    project.unlink()
