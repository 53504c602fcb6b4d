"""Apache Kafka as jars from Maven Central, fetched by the user's own Maven.

Which registry, mirror or proxy is asked is the business of the user's Maven settings; no host is
named here. What is fetched is decided by `ci/matrix.toml` alone: the broker's artifact of a release
with its run-time dependencies, and the extras of that entry. The result is a folder of jars per set
of coordinates; once it is there, neither Maven nor the network is needed again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.java import find_java, find_maven
from touchstone.harness.targets.matrix import Release, release

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


def kafka_home(version: str, *more: str) -> Path:
    """The folder of this release's jars, fetched on first use; Unavailable when that fails.

    `more` are artifacts of the same release beside the broker ("kafka-streams"); jars with them
    have a folder of their own, since few want them.
    """
    wanted = release(version)
    if more:
        beside = (f"org.apache.kafka:{name}:{wanted.version}" for name in more)
        wanted = replace(wanted, extra=(*wanted.extra, *beside))
    found = _home(wanted, cache_dir())
    if isinstance(found, str):
        raise Unavailable(found)
    return found


@functools.cache
def _home(wanted: Release, cache: Path) -> Path | str:
    """The folder, or why there is none: a registry that timed out is not asked again all day."""
    digest = hashlib.sha256(" ".join(wanted.artifacts).encode()).hexdigest()[:8]
    entry = cache / f"kafka-{wanted.version}-{digest}"
    try:
        return kept(entry, lambda folder: _fetch(wanted, folder))
    except Unavailable as missing:
        return missing.reason


def broker_jar(wanted: Release) -> tuple[str, str]:
    """The name and the sha256 of the jar that is this release's broker."""
    name = f"kafka_{wanted.scala}-{wanted.version}.jar"
    return name, _sha256(kafka_home(wanted.version) / name)


@functools.cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def class_path(home: Path) -> str:
    """Every jar by name, sorted: a class data archive is only valid for the very same path."""
    return os.pathsep.join(str(jar) for jar in sorted(home.glob("*.jar")))


def pom(wanted: Release) -> str:
    """A project whose only purpose is to depend on Kafka."""
    lines = [
        _DEPENDENCY.format(*(escape(part) for part in artifact.split(":")))
        for artifact in wanted.artifacts
    ]
    return _POM.format(dependencies="\n".join(lines))


def _fetch(wanted: Release, folder: Path) -> None:
    """Fill `folder` with jars; Maven's words on failure, since the cause is in its settings."""
    maven, java = find_maven(), find_java()
    project = folder / "pom.xml"
    project.write_text(pom(wanted), encoding="utf-8")
    argv = [str(maven), "-q", "-B", "-f", str(project), "dependency:copy-dependencies"]
    argv += [f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    environment = {**os.environ, "JAVA_HOME": str(java.home)}
    try:
        said = subprocess.run(
            argv, capture_output=True, text=True, timeout=FETCH_SECONDS, env=environment,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven fetched no Kafka {wanted.version} in {FETCH_SECONDS} s") from None
    if said.returncode or not list(folder.glob("kafka-clients-*.jar")):
        raise Unavailable(f"Maven fetched no Kafka {wanted.version}: {_cause(said.stdout)}")
    project.unlink()


def _cause(output: str) -> str:
    errors = [line for line in output.splitlines() if line.startswith("[ERROR]")]
    return (errors[0][len("[ERROR] ") :] if errors else "it said nothing")[:400]
