"""Settings of listeners change while their broker runs, and each answer is one that Kafka gave."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack, closing

import pytest

from touchstone.reference_impl.broker.faults.switches import LISTENER_SWITCHES
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.security.altered_listeners import (
    SCENES,
    read_recorded,
    recorded_scenes,
)
from touchstone.reference_impl.tests.security.played_listeners import Played
from touchstone.reference_impl.tests.security.stores import HOST, Stores

MAP = "listener.security.protocol.map"
NOTICED = {
    "listener-keys-kept": ("altered", "4.3", "this broker has a setting"),
    "listener-keys-not-checked": ("altered", "4.3", "no such file"),
    "listener-files-not-reread": ("altered", "4.3", "this broker has a setting"),
    "listener-fixed-settings-not-checked": ("altered", "4.3", "nor anywhere"),
    "listener-addresses-not-told": ("listeners", "2.8", "it is advertised"),
}  # by which step
QUICK = ("between-brokers",)
RECORDED = [
    pytest.param(name, release, marks=() if name in QUICK else pytest.mark.slow)
    for name, release in recorded_scenes()
]


def _addresses(scene, *, with_controller):
    """Ports that were free a moment ago."""
    names = [*scene.protocols, *scene.spare, *(["CONTROLLER"] if with_controller else [])]
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((HOST, 0))) for _ in names]
        ports = [sock.getsockname()[1] for sock in sockets]
    return {name: f"{HOST}:{port}" for name, port in zip(names, ports, strict=True)}


def _config(scene, stores, addresses):
    """As Kafka was started. The controller of ours is in its broker, and needs no listener."""
    own = ",".join(f"{name}://{addresses[name]}" for name in scene.protocols)
    config = scene.settings(stores) | {"listeners": own, "advertised.listeners": own}
    if "CONTROLLER" in addresses:
        config["listeners"] += f",CONTROLLER://{addresses['CONTROLLER']}"
        config["controller.listener.names"] = "CONTROLLER"
        config[MAP] = f"CONTROLLER:PLAINTEXT,{config[MAP]}"
    return config


def _played(folder, name, release, switches=()):
    """(step, how it ended on ours, how on real Kafka)."""
    recorded = read_recorded(name, release)
    scene, stores = SCENES[name], Stores(folder, pem=release != "2.8")
    assert list(scene.steps) == list(recorded)
    addresses = _addresses(scene, with_controller=release not in ("2.2", "2.8"))
    config = _config(scene, stores, addresses)
    with ExitStack() as look_on:
        running = serve(release=release, config=config, switches=switches)
        cluster = look_on.enter_context(running)

        def restart():
            cluster.stop_broker(0)
            cluster.start_broker(0)

        played = Played(scene, addresses, stores, look_on, restart)
        for step, act in scene.steps.items():
            yield step, json.loads(json.dumps([act(played), played.seen()])), recorded[step]


@pytest.mark.parametrize(("name", "release"), RECORDED)
def test_every_step_ends_as_it_did_with_kafka(tmp_path, name, release):
    played = _played(tmp_path, name, release)
    assert [(step, ours, kafkas) for step, ours, kafkas in played if ours != kafkas] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("switch", "noticed"),
    NOTICED.items(),
)
def test_a_planted_defect_shows(tmp_path, switch, noticed):
    scene, release, noticing = noticed
    played = _played(tmp_path, scene, release, [switch])
    with closing(played):
        assert next(step for step, ours, kafkas in played if ours != kafkas) == noticing


def test_every_defect_has_its_step():
    assert NOTICED.keys() == LISTENER_SWITCHES.keys()
