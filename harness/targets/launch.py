"""Programs that our own target files start: a plain Kafka of a release, and its ZooKeeper.

    python -m touchstone.harness.targets.launch kafka 4.3 --node 1 --port 9092 --folder DIR ...
    python -m touchstone.harness.targets.launch zookeeper --port 2181 --folder DIR

Kafka runs as its quick start has it: beside what it could not run without, only the lines that its
own server.properties has for so few brokers. `kafka@RELEASE` is another thing: a cluster as the
suites want it. The process becomes the Java program, so that what is killed or frozen from outside
is Kafka itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click

from touchstone.harness.model.target import StartFailed, Unavailable
from touchstone.harness.targets import jvm, matrix, process, released, settings
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.targets.release import Release

PROFILE = "quickstart"
# What server.properties of the release says where there are fewer than three brokers.
ONE_BROKER = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
SHARE = {
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
NO_DELAY = {"group.initial.rebalance.delay.ms": "0"}  # in server.properties of ZooKeeper's time


class QuickStart(TypedDict):
    """What the settings of a quick start are made of."""

    brokers: int
    host: str
    port: int
    controller_port: int | None
    voters: str
    zookeeper: str
    cluster: str
    rack: str


@click.group()
def launch() -> None:
    """Start a program of a shipped target file in the foreground."""


@launch.command()
@click.argument("release")
def fetch(release: str) -> None:
    """Fetch the jars of a release, and those of the ZooKeeper that it needs."""
    wanted = _release(release)
    for each in [wanted] if wanted.kraft else [wanted, matrix.zookeeper()]:
        kafka_home(each)


@launch.command()
@click.argument("release")
def train(release: str) -> None:
    """Start a broker of a release once, so that all later starts are short."""
    process.train(_release(release).version)


@launch.command()
@click.argument("release")
@click.option("--node", type=int, required=True, help="This broker's id.")
@click.option("--brokers", type=int, default=1, help="How many there are.")
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int, required=True)
@click.option("--controller-port", type=int, help="KRaft: where this node's controller listens.")
@click.option("--voters", default="", help="KRaft: ID@HOST:PORT of every controller.")
@click.option("--zookeeper", default="", help="HOST:PORT, before KRaft.")
@click.option("--cluster", default="", help="KRaft: the cluster's id, the same for all nodes.")
@click.option("--rack", default="")
@click.option("--folder", type=click.Path(path_type=Path), required=True, help="For its files.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="A broker setting.")
def kafka(
    release: str, node: int, folder: Path, given: tuple[str, ...], **quick_start: Unpack[QuickStart]
) -> None:
    """Run one broker of a release with its default settings."""
    wanted = _release(release)
    java, home = find_java(), kafka_home(wanted)
    data = (folder / "data").resolve()
    rendered = {"log.dirs": str(data), **properties(wanted, node, **quick_start)}
    rendered |= dict(pair.split("=", 1) for pair in given)
    if wanted.kraft and not (data / "meta.properties").exists():
        jvm.format_node(
            wanted, java, home, data, node=node, cluster=quick_start["cluster"] or jvm.new_id()
        )
    _become(wanted, jvm.KAFKA, rendered, folder, profile=PROFILE)


def properties(
    release: Release, node: int, *, brokers: int, host: str, port: int, voters: str,
    zookeeper: str, rack: str, controller_port: int | None = None, cluster: str = "",
) -> dict[str, str]:  # fmt: skip
    """What a quick start's server.properties says, as a pure function of values."""
    clients = f"PLAINTEXT://{host}:{port}"
    found = {"advertised.listeners": clients}
    if release.kraft:
        own = f"CONTROLLER://{host}:{controller_port}"
        found |= {
            "process.roles": settings.COMBINED,
            "node.id": str(node),
            "listeners": f"{clients},{own}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "controller.quorum.voters": voters or f"{node}@{host}:{controller_port}",
        }
    else:
        found |= {
            "broker.id": str(node), "listeners": clients, "zookeeper.connect": zookeeper, **NO_DELAY
        }  # fmt: skip
    if brokers < 3:
        found |= ONE_BROKER | (SHARE if release.number >= (4, 0) else {})
    return found | ({"broker.rack": rack} if rack else {})


@launch.command()
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int, required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True, help="For its files.")
def zookeeper(host: str, port: int, folder: Path) -> None:
    """Run the ZooKeeper that serves the releases before KRaft."""
    rendered = settings.zookeeper(str((folder / "data").resolve()), (host, port))
    _become(matrix.zookeeper(), jvm.ZOOKEEPER, rendered, folder, profile="zookeeper")


def _release(word: str) -> Release:
    try:
        return released.find(word)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _become(
    release: Release, main: str, rendered: dict[str, str], folder: Path, *, profile: str
) -> None:
    """Turn this process into the Java program."""
    java, home = find_java(), kafka_home(release)
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "server.properties"
    file.write_text(settings.text(rendered), encoding="utf-8")
    argv = jvm.command(
        java, home, main, str(file), profile=profile,
        logging=jvm.write_logging(release, folder),
        options=(
            *(jvm.sharing(jvm.archive(java, home)) if main == jvm.KAFKA else ()),
            *settings.jvm_properties(rendered),
        ),
    )  # fmt: skip
    os.chdir(folder)
    os.execv(argv[0], argv)


if __name__ == "__main__":
    try:
        launch()
    except (Unavailable, StartFailed) as missing:
        sys.exit(f"error: {missing}")
