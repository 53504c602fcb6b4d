"""The settings file of every node of every release and shape, as pure functions of values.

Kafka's own defaults are what is being tested, so a line stands here only if the cluster could not
run without it (where to listen, who keeps the metadata, replication factors that few brokers can
satisfy) or if it removes waiting that no clause speaks of. A shape's own settings come last.

Sources: Kafka's configuration reference of each release; KIP-103 (listener names), KIP-500/KIP-595
(quorum), KIP-932 (share state topic).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from touchstone.harness.model.security_settings import ALLOWED_URLS, KEYS_URL
from touchstone.harness.model.target import (
    CLIENTS,
    CONTROLLER,
    LISTENERS,
    Address,
    Shape,
    listener_names,
)
from touchstone.harness.targets.release import Release

CONTROLLER_ID = 100  # a controller of its own; broker ids count from 0, as Kafka's quick start does
INTERNAL = "INTERNAL"
OURS = (CLIENTS, INTERNAL, CONTROLLER)  # listeners without authentication
ROLES = "process.roles"  # a shape may ask "broker,controller"; "broker" means a controller apart
COMBINED = "broker,controller"
_KEY_FILE = f"file:{Path(__file__).resolve().parent / 'jwks.json'}"
_LOGIN = re.compile(r"listener\.name\..*\.sasl\.jaas\.config")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where one broker listens for clients, and where it says it does.

    `internal` is the address brokers use among themselves when clients' is of no use to them, as in
    containers whose published port exists only on the host. `named` are the shape's own
    (`listener_names`), bound where they are advertised.
    """

    bind: Address
    advertised: Address
    internal: Address | None = None
    named: Mapping[str, Address] = field(default_factory=dict)  # further ones, by name


@dataclass(frozen=True, slots=True)
class MetadataAddress:
    """Who keeps the metadata: a ZooKeeper with its chroot, or a KRaft controller."""

    zookeeper: str = ""
    controller_id: int = 0
    controller: Address = ("", 0)
    bind: Address = ("", 0)


def combined(release: Release, shape: Shape) -> bool:
    """Whether the only broker is its own controller.

    Several brokers get a controller apart, as they would have had a ZooKeeper apart: a fault that
    hits any broker then never takes the metadata with it, whatever the release.
    """
    asked = shape.settings.get(ROLES)
    if not release.kraft:
        return False
    if asked is None:
        return shape.brokers == 1
    return asked.replace(" ", "") == COMBINED


def draws_ids(shape: Shape) -> bool:
    """Whether brokers get their ids from ZooKeeper, not from their place in the shape."""
    return shape.settings.get("broker.id") == "-1"


def zookeeper(data: str, bind: Address) -> dict[str, str]:
    """ZooKeeper's own settings; its admin server would want a fixed port.

    It does not wait for its disk (forceSync): its data is scratch, and on a disk that stalls for
    seconds the sessions of brokers would end.
    """
    return {
        "dataDir": data,
        "clientPort": str(bind[1]),
        "clientPortAddress": bind[0],
        "admin.enableServer": "false",
        "maxClientCnxns": "0",
        "tickTime": "500",  # a session lasts two ticks at least: shapes may want short ones
        "maxSessionTimeout": "60000",
        "forceSync": "no",
        "4lw.commands.whitelist": "ruok,srvr",
    }


def broker(
    release: Release,
    shape: Shape,
    node: int,
    *,
    data: str,
    listening: Listening,
    keeper: MetadataAddress,
) -> dict[str, str]:
    """One broker's settings (and its controller's, where they are combined)."""
    both = combined(release, shape)
    listeners = {CLIENTS: listening.bind, **listening.named}
    advertised = {CLIENTS: listening.advertised, **listening.named}
    if listening.internal:
        listeners[INTERNAL] = advertised[INTERNAL] = listening.internal
    if both and node == keeper.controller_id:
        listeners[CONTROLLER] = keeper.bind
    settings = {"log.dirs": data, **_listeners(listeners)}
    settings["advertised.listeners"] = _joined(advertised)
    if listening.internal:
        settings["inter.broker.listener.name"] = INTERNAL
    if release.kraft:
        own = COMBINED if both and node == keeper.controller_id else "broker"
        settings |= {ROLES: own, "node.id": str(node), **_quorum(keeper)}
    else:
        settings |= {"broker.id": str(node), **_zookeeper_client(keeper)}
    rack = shape.rack_of(node)
    if rack is not None:
        settings["broker.rack"] = rack
    return settings | _few_brokers(release, shape.brokers) | _asked(shape)


def controller(
    release: Release, shape: Shape, *, data: str, keeper: MetadataAddress
) -> dict[str, str]:
    """A KRaft controller apart. It gets the shape's settings too: defaults of topics live there."""
    settings = {
        "log.dirs": data,
        ROLES: "controller",
        "node.id": str(keeper.controller_id),
        **_listeners({CONTROLLER: keeper.bind}),
        **_quorum(keeper),
    }
    return settings | _few_brokers(release, shape.brokers) | _asked(shape)


def added(release: Release, shape: Shape) -> dict[str, str]:
    """What the harness adds to a shape's settings, equal for every start: the first broker's, with
    DATA for its folder and 0 for every port.
    """
    here = ("127.0.0.1", 0)
    keeper = MetadataAddress(
        "127.0.0.1:0/kafka", 0 if combined(release, shape) else CONTROLLER_ID, here
    )
    rendered = broker(
        release, shape, 0, data="DATA",
        listening=Listening(here, here, named=dict.fromkeys(listener_names(shape.settings), here)),
        keeper=replace(keeper, bind=here),
    )  # fmt: skip
    asked = shape.settings
    return {key: value for key, value in rendered.items() if asked.get(key) != value}


def with_key_file(rendered: Mapping[str, str]) -> dict[str, str]:
    """With the place of the file of keys, which is no part of a shape."""
    return {name: value.replace(KEYS_URL, _KEY_FILE) for name, value in rendered.items()}


def jvm_properties(rendered: Mapping[str, str]) -> tuple[str, ...]:
    """What Kafka reads of its JVM, and not of its settings (KIP-768)."""
    allowed = rendered.get(ALLOWED_URLS)
    return () if allowed is None else (f"-D{ALLOWED_URLS}={allowed}",)


def login_modules(release: Release, config: Mapping[str, str]) -> str:
    """The JAAS file of a release that has no setting for login modules, "" where it has: before 1.1
    (KIP-226, DynamicBrokerConfig) only the file tells who the users of a SASL listener are.
    """
    if release.number >= (1, 1):
        return ""
    modules = [value for name, value in config.items() if _LOGIN.fullmatch(name)]
    return (
        "".join(("KafkaServer {\n", *(f"  {one}\n" for one in modules), "};\n")) if modules else ""
    )


def text(settings: dict[str, str]) -> str:
    """A Java properties file. A backslash is the only character of a value that needs care."""
    escaped = ((key, value.replace("\\", "\\\\")) for key, value in settings.items())
    return "".join(f"{key}={value}\n" for key, value in escaped)


def _asked(shape: Shape) -> dict[str, str]:
    return {key: value for key, value in shape.config if key not in (ROLES, LISTENERS)}


def _listeners(listeners: dict[str, Address]) -> dict[str, str]:
    return {
        "listeners": _joined(listeners),
        "listener.security.protocol.map": ",".join(
            f"{name}:{CLIENTS if name in OURS else name}"
            for name in dict.fromkeys((*OURS, *listeners))
        ),
    }


def _joined(listeners: dict[str, Address]) -> str:
    return ",".join(f"{name}://{host}:{port}" for name, (host, port) in listeners.items())


def _quorum(keeper: MetadataAddress) -> dict[str, str]:
    host, port = keeper.controller
    return {
        "controller.listener.names": CONTROLLER,
        "controller.quorum.voters": f"{keeper.controller_id}@{host}:{port}",
    }


def _zookeeper_client(keeper: MetadataAddress) -> dict[str, str]:
    # 18 s is the default from 2.5 on (KIP-537); the 6 s before it are lost to one long pause of a
    # machine with two cores, and a lost session is a different scenario from the one asked for.
    return {
        "zookeeper.connect": keeper.zookeeper,
        "zookeeper.connection.timeout.ms": "60000",
        "zookeeper.session.timeout.ms": "18000",
    }


def _few_brokers(release: Release, brokers: int) -> dict[str, str]:
    """What the defaults (factor 3, two in sync) would refuse on fewer than three brokers."""
    factor, in_sync = str(min(3, brokers)), str(min(2, brokers))
    settings = {
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": in_sync,
        # Three seconds of waiting for more members before each first rebalance (KIP-134).
        "group.initial.rebalance.delay.ms": "0",
    }
    if release.number >= (4, 0):
        settings["share.coordinator.state.topic.replication.factor"] = factor
        settings["share.coordinator.state.topic.min.isr"] = in_sync
    return settings
