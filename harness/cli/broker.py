"""`touchstone broker`: the reference broker in the foreground, for any client in any language.

Its contract with whoever starts it: one line `ready HOST:PORT[,HOST:PORT...]` on stdout once all
listeners accept, nothing else there ever; logs on stderr; SIGTERM and SIGINT end it with exit 0.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from touchstone.harness import shown
from touchstone.harness.cli import ListsSwitches
from touchstone.harness.cli.values import pairs
from touchstone.harness.model import bounded
from touchstone.reference_impl.broker.configs import profiles, server_properties, setting_names
from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.client.configs import properties
from touchstone.reference_impl.cluster.znodes import RegistryError
from touchstone.reference_impl.extras import hint
from touchstone.reference_impl.io.listeners import is_loopback
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.io.server import RunningCluster, build

_ANY_MACHINE = "nobody is authenticated here, and whoever reaches it may do everything"
_TELLS_TOPICS = "whoever reaches them is told the names of all topics"
_ANY_PROCESS = "every process of this machine may use the fault port (--faults-token)"


def _settings(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    found = pairs(ctx, parameter, given)
    if wrong := next(filter(None, map(setting_names.complaint, found)), None):
        raise click.BadParameter(wrong)
    return found


class _File(NamedTuple):
    """A server.properties: where it is, and what it sets."""

    path: Path
    settings: Mapping[str, str]


def _file(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> _File | None:
    if path is None:
        return None
    try:
        text = bounded.data(path, bounded.TABLES).decode(properties.ENCODING)
        return _File(path, properties.parse(text))
    except OSError as fault:
        raise click.BadParameter(f"{path}: {fault.strerror}") from None
    except ValueError as wrong:
        raise click.BadParameter(f"{path}: {wrong}") from None


def _obeyed(
    file: _File, config: Mapping[str, str], release: str, *, keeps: bool, zookeeper: bool
) -> dict[str, str]:
    """Say what each setting of the file comes to that `config` does not replace, and return them
    with those of `config`. Raise UsageError where some are refused, KeyError where there is no
    such release.
    """
    persona(release)
    own = {name: value for name, value in file.settings.items() if name not in config}
    found = server_properties.meanings(own, release, keeps=keeps, zookeeper=zookeeper)
    kinds = Counter(each.kind for each in found)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    click.echo(f"{file.path}: {len(found)} settings: {counted}", err=True)
    for each in found:
        click.echo(f"  {shown.line(str(each))}", err=True)
    if wrong := server_properties.refused(found):
        names = ", ".join(each.name for each in wrong)
        raise click.UsageError(f"{file.path}: refused, for the reasons above: {names}")
    return own | dict(config)


def _fault_port(
    cluster: RunningCluster, port: int, token: str | None
) -> contextlib.AbstractContextManager[object]:
    try:
        http = importlib.import_module("touchstone.reference_impl.io.fault_http")  # costs 25 ms
        faults = http.FaultDoor(cluster.faults, port=port, token=token)
    except OSError as fault:
        raise click.ClickException(f"--faults-http {port}: {fault.strerror}") from None
    click.echo(f"faults {faults.url}", err=True)
    if token is None:
        click.echo(f"warning: {_ANY_PROCESS}", err=True)
    return faults


def _metrics_port(
    cluster: RunningCluster, host: str, port: int | None
) -> contextlib.AbstractContextManager[object]:
    if port is None:
        return contextlib.nullcontext()
    try:
        door = importlib.import_module("touchstone.reference_impl.io.metrics_http")
    except ImportError as missing:
        raise click.ClickException(f"--metrics-port: {missing} {hint('metrics')}") from None
    try:
        metrics = door.MetricsDoor(cluster.measure, host, port)
    except OSError as fault:
        raise click.ClickException(f"--metrics-port {host}:{port}: {fault.strerror}") from None
    cluster.observe()
    click.echo(f"metrics {metrics.url}", err=True)
    if not is_loopback(host):
        click.echo(f"warning: metrics on {host}: {_TELLS_TOPICS}", err=True)
    return metrics


def _tell_listeners(cluster: RunningCluster, config: dict[str, str]) -> None:
    """Where those behind the first are, and who of them serves everybody."""
    protocols = {each.name: each for each in ListenerSettings.of(config).listeners}
    first = next(iter(cluster.listeners))
    for name, where in cluster.listeners.items():
        if name != first:
            click.echo(f"{name} {','.join(where)}", err=True)
        host = where[0].rpartition(":")[0]
        if not protocols[name].authenticates and not is_loopback(host):
            click.echo(f"warning: listening on {host}: {_ANY_MACHINE}", err=True)


@click.command("broker", cls=ListsSwitches)
@click.option("--brokers", default=1, type=click.IntRange(1, 100), help="How many brokers to run.")
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="Of broker 0; broker I listens on this port + I. 0: on free ports.",
)
@click.option(
    "--advertised-listeners",
    "advertise",
    metavar="HOST:PORT,...",
    help="Where clients find each broker; else where it listens.",
)
@click.option("--racks", help="Rack of each broker, comma separated.")
@click.option("--release", default="4.3", help=f"The Kafka release to be: {' '.join(RELEASES)}.")
@click.option("--data", metavar="DIR", help="Keep logs and topics there; else in memory.")
@click.option(
    "--zookeeper",
    metavar="HOST:PORT[/CHROOT]",
    help="Keep the registry there as Kafka does (1.0, 2.2, 2.8).",
)
@click.option(
    "--config",
    multiple=True,
    metavar="K=V",
    callback=_settings,
    help="A broker setting; repeatable.",
)
@click.option(
    "--properties",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, path_type=Path),
    callback=_file,
    help="A server.properties of Kafka's, behind --config: each of its settings is listed on stderr"
    " as obeyed, harmless, unknown or refused.",
)
@click.option(
    "--profile",
    type=click.Choice(profiles.NAMES),
    help="Settings behind those of --config; test: no rebalance delay, short sessions.",
)
@click.option(
    "--add-scram",
    "scram",
    multiple=True,
    metavar="CREDENTIAL",
    help="A user to begin with: 'SCRAM-SHA-256=[name=alice,password=secret]'.",
)
@click.option("--switch", multiple=True, metavar="NAME", help="Plant a named defect.")
@click.option("--seed", default=0, help="Seed of ids and placements.")
@click.option(
    "--faults-http",
    "door",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serve the fault plan over HTTP on loopback; its URL goes to stderr. Whoever reaches it"
    " can spoil every answer: web pages of other origins are refused, and with --faults-token"
    " every request that does not carry it.",
)
@click.option(
    "--faults-token",
    "token",
    metavar="TOKEN",
    help="What a request to the fault port must carry: Authorization: Bearer TOKEN.",
)
@click.option(
    "--metrics-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serve Kafka's metrics as Prometheus text; the URL goes to stderr.",
)
@click.option("--metrics-host", default="127.0.0.1", help="Address that --metrics-port is on.")
@click.option("--verbose", is_flag=True, help="Log connections and refusals, not only faults.")
def command(
    brokers: int,
    host: str,
    port: int,
    advertise: str | None,
    racks: str | None,
    release: str,
    data: str | None,
    zookeeper: str | None,
    config: dict[str, str],
    file: _File | None,
    profile: str | None,
    scram: tuple[str, ...],
    switch: tuple[str, ...],
    seed: int,
    door: int | None,
    token: str | None,
    metrics_port: int | None,
    metrics_host: str,
    verbose: bool,
) -> None:
    """Serve the reference broker until SIGTERM or SIGINT.

    Exit code 0: it was ended by one of them, 3: it cannot listen there or cannot use DIR, 4: an
    option is wrong, or a setting cannot be obeyed.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    names = [rack.strip() or None for rack in racks.split(",")] if racks else []
    try:
        if file is not None:
            config = _obeyed(file, config, release, keeps=bool(data), zookeeper=bool(zookeeper))
        if profile is not None:
            config = profiles.settings(profile, release, brokers) | config
        cluster = build(
            brokers, host, port, names, release, config, switch, seed, data, zookeeper,
            advertise.split(",") if advertise else (), scram,
        )  # fmt: skip
    except (LogDirError, RegistryError) as fault:
        raise click.ClickException(str(fault)) from None
    except (KeyError, ValueError) as fault:
        raise click.UsageError(str(fault.args[0])) from None
    except OSError as fault:
        raise click.ClickException(f"cannot listen on {host}:{port}: {fault.strerror}") from None
    with contextlib.ExitStack() as open_doors:
        if door is not None:
            open_doors.enter_context(_fault_port(cluster, door, token))
        open_doors.enter_context(_metrics_port(cluster, metrics_host, metrics_port))
        _tell_listeners(cluster, config)
        gc.freeze()  # what was loaded stays: a collection need not look at it again, and with many
        gc.set_threshold(10_000, 20, 50)  # requests waiting it would look often
        try:
            cluster.run_forever(lambda: _say_ready(cluster.bootstrap))
        except LogDirError as fault:  # a disk that is full, say
            raise click.ClickException(str(fault)) from None


def _say_ready(bootstrap: Sequence[str]) -> None:
    click.echo("ready " + ",".join(bootstrap))
    sys.stdout.flush()
