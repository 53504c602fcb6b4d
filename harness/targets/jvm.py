"""Command lines for Kafka's Java programs, and the two things that make their start short.

A cold Kafka spends most of its start loading classes, so the classes of a first run are dumped when
it ends and mapped by all later ones (class data sharing, JEP 350): 3.0 s become 1.1 s. And a KRaft
node wants a formatted folder; `StorageTool` needs a JVM of its own per node, yet what it writes
differs between nodes only in three identifiers. It runs once per release; the identifiers are ours.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import uuid
from pathlib import Path

from touchstone.harness.model.target import Shape, StartFailed
from touchstone.harness.targets import settings
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.java import Java
from touchstone.harness.targets.maven import class_path, jars_name
from touchstone.harness.targets.release import Release

KAFKA = "kafka.Kafka"
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
STORAGE = "kafka.tools.StorageTool"
FORMAT_SECONDS = 120

# name: what it is for. "test" starts fast and small; "quickstart" has the heap of Kafka's own
# scripts and a compiler that starts fast; "bench" is how Kafka's own scripts run it. A setting of
# the cleaner, message.max.bytes among them, makes another cleaner with another dedupe buffer of
# 128 MB beside the old: with 384 MB 3.9 and 4.3 end there for want of memory.
PROFILES: dict[str, tuple[str, ...]] = {
    "test": ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "quickstart": ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "zookeeper": ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "client": ("-Xmx512m",),
    "bench": (
        "-Xms1g", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
        "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    ),
}  # fmt: skip
_ALWAYS = ("-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData", "-Djava.awt.headless=true")

_LOG4J_1 = """log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J_2 = """appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
"""


def command(
    java: Java, home: Path, main: str, *arguments: str, profile: str, logging: Path,
    options: tuple[str, ...] = (),
) -> list[str]:  # fmt: skip
    """The argument vector of one Java program on this release's jars."""
    return [
        str(java.executable), *PROFILES[profile], *_ALWAYS, *options,
        f"-Dlog4j.configuration=file:{logging}",
        f"-Dlog4j2.configurationFile=file:{logging}",
        "-cp", class_path(home), main, *arguments,
    ]  # fmt: skip


def write_logging(release: Release, folder: Path) -> Path:
    """A logging file of the kind this release reads: everything to the console, one line each."""
    target = folder / "logging.properties"
    target.write_text(logging_settings(release), encoding="ascii")
    return target


def logging_settings(release: Release) -> str:
    return _LOG4J_2 if release.log4j_2 else _LOG4J_1


def archive(java: Java, home: Path) -> Path:
    """Where the class data of this Java and these jars is kept; the file may not exist yet."""
    identity = f"{java.executable.resolve()} {java.feature} {class_path(home)}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return cache_dir() / f"classes-{home.name}-{digest}.jsa"


def sharing(kept_archive: Path) -> tuple[str, ...]:
    """Options to map the archive; a stale one is passed over by the JVM without a word."""
    if not kept_archive.exists():
        return ()
    return (f"-XX:SharedArchiveFile={kept_archive}", "-Xshare:auto", "-Xlog:cds=off",
            "-Xlog:cds+dynamic=off")  # fmt: skip


def can_share(java: Java) -> bool:
    """A dump stands on the JDK's own; a runtime cut down to a wheel comes without one."""
    return (java.home / "lib" / "server" / "classes.jsa").exists()


def dumping(unfinished: Path) -> tuple[str, ...]:
    """Options to dump the classes of this run when it ends."""
    return (f"-XX:ArchiveClassesAtExit={unfinished}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def format_node(
    release: Release, java: Java, home: Path, data: Path, *, node: int, cluster: str
) -> None:
    """Make `data` what StorageTool would have made it for this node."""
    formatted = kept(
        cache_dir() / f"storage-{jars_name(home)}",
        lambda folder: _format(release, java, home, folder),
    )
    # All of it: bootstrap.checkpoint until 4.3, a snapshot of the metadata log since 4.4.
    shutil.copytree(formatted / "data", data, dirs_exist_ok=True)  # it may be a disk of its own
    (data / "meta.properties").write_text(
        settings.text({
            "version": "1",
            "cluster.id": cluster,
            "node.id": str(node),
            "directory.id": new_id(),
        }),
        encoding="ascii",
    )  # fmt: skip


def new_id() -> str:
    """A random identifier in Kafka's spelling: 16 bytes, URL-safe base64, no padding."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()


def _format(release: Release, java: Java, home: Path, folder: Path) -> None:
    """Run the real tool once, for its bootstrap records."""
    data, properties = folder / "data", folder / "server.properties"
    keeper = settings.MetadataAddress(controller=("127.0.0.1", 1), bind=("127.0.0.1", 1))
    listening = settings.Listening(("127.0.0.1", 2), ("127.0.0.1", 2))
    rendered = settings.broker(
        release, Shape(), 0, data=str(data), listening=listening, keeper=keeper
    )
    properties.write_text(settings.text(rendered), encoding="utf-8")
    argv = command(
        java, home, STORAGE, "format", "-t", new_id(), "-c", str(properties),
        profile="test", logging=write_logging(release, folder),
    )  # fmt: skip
    said = subprocess.run(
        argv, capture_output=True, text=True, timeout=FORMAT_SECONDS, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if said.returncode:
        raise StartFailed(f"StorageTool {release.version} failed:\n{said.stdout}{said.stderr}")
