"""Settings of listeners are altered while real Kafka runs; its answers are what ours are held to.

    python -m touchstone.harness.tests.clients.test_altered_listeners RELEASE SCENE

records them anew, into the folder where the fast test of our broker reads them.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from touchstone.harness.targets import parse
from touchstone.harness.targets.matrix import release as matrix_release
from touchstone.harness.targets.ports import free_ports
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.tests.security.altered_listeners import (
    SCENES,
    read_recorded,
    recorded_scenes,
    write_recorded,
)
from touchstone.reference_impl.tests.security.played_listeners import (
    METADATA,
    NODE,
    PLAINTEXT,
    Played,
    Scene,
)
from touchstone.reference_impl.tests.security.stores import HOST, Stores

pytestmark = [
    pytest.mark.slow,
    pytest.mark.live,
    pytest.mark.java,
    pytest.mark.maven,
    pytest.mark.timeout(8 * PATIENCE_S),
]
LAUNCH = (sys.executable, "-m", "touchstone.harness.targets.launch")
CONTROLLER = "CONTROLLER"
OLD = "2.8"  # reads PEM files only with passwords
SETTLED = 25  # looks; by then a broker of KRaft has done what its controller was told


@contextmanager
def kafka(
    release: str, folder: Path, settings: dict[str, str], scene: Scene
) -> Iterator[tuple[dict[str, str], Callable[[], None]]]:
    """A broker of this release, with these listeners beside: the address of each, and what starts
    it again.
    """
    names = [CONTROLLER, *scene.protocols, *scene.spare]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    keeper, plain = ports[CONTROLLER], ports[PLAINTEXT]
    found = {name: f"{HOST}:{port}" for name, port in ports.items()}
    own = ",".join(f"{name}://{found[name]}" for name in scene.protocols)
    told = {"advertised.listeners": own}
    with ExitStack() as running:
        if matrix_release(release).kraft:
            told["listeners"] = f"{own},{CONTROLLER}://{HOST}:{keeper}"
            more = ["--controller-port", str(keeper)]
            settings = settings | {
                "listener.security.protocol.map":
                f"CONTROLLER:PLAINTEXT,{settings['listener.security.protocol.map']}"
            }  # fmt: skip
        else:
            told["listeners"] = own
            del found[CONTROLLER]
            command = [*LAUNCH, "zookeeper", "--port", str(keeper), "--folder", str(folder / "zk")]
            running.enter_context(started(command, folder / "zookeeper.txt"))
            more = ["--zookeeper", f"{HOST}:{keeper}"]
        command = [
            *LAUNCH, "kafka", release, "--node", NODE, "--port", str(plain), *more,
            "--folder", str(folder / "kafka"),
            *(word for pair in (settings | told).items() for word in ("--set", "=".join(pair))),
        ]  # fmt: skip
        runs = running.enter_context(ExitStack())
        now: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            if now:  # in order, or ZooKeeper takes it to be there for a while
                now[0].terminate()
                now[0].wait(4 * PATIENCE_S)
            runs.close()
            child = runs.enter_context(started(command, folder / "kafka.txt"))
            now[:] = [child]
            until(lambda: child.poll() is not None or answers(found[PLAINTEXT]))
            assert child.poll() is None, (folder / "kafka.txt").read_text()

        start()
        yield found, start


@contextmanager
def started(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("w") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_S)


def until(done: Any) -> None:
    end = time.monotonic() + 4 * PATIENCE_S
    while not done():
        assert time.monotonic() < end, "it does not come"


def answers(address: str) -> bool:
    try:
        with Peer(address) as peer:
            return bool(peer.ask(METADATA, 1, {"topics": []})["brokers"])
    except (OSError, TypeError):
        return False


@contextmanager
def playing(release: str, name: str) -> Iterator[Played]:
    scene = SCENES[name]
    with tempfile.TemporaryDirectory() as where, ExitStack() as look_on:
        folder = Path(where)
        stores = Stores(folder, pem=release != OLD)
        running = kafka(release, folder, scene.settings(stores), scene)
        addresses, restart = look_on.enter_context(running)
        yield Played(scene, addresses, stores, look_on, restart)


@pytest.mark.parametrize(("name", "release"), recorded_scenes())
def test_kafka_does_as_is_recorded(name, release):
    if reason := parse(f"kafka@{release}").available():
        pytest.skip(f"not run: {reason}")
    recorded = read_recorded(name, release)
    different = {}
    with playing(release, name) as played:
        for step, act in SCENES[name].steps.items():
            answer, expected = recorded[step]
            found = json.loads(json.dumps(act(played)))
            seen = soon(played, expected)
            if (found, seen) != (answer, expected):
                different[step] = {"now": [found, seen], "recorded": recorded[step]}
    assert different == {}


def soon(played: Played, expected: Any) -> Any:
    """What clients meet: a broker does what it was told a moment later."""
    end = time.monotonic() + PATIENCE_S
    while not played.is_in_force() and time.monotonic() < end:
        pass
    while (found := played.seen()) != expected and time.monotonic() < end:
        pass
    return found


def settled(played: Played) -> Any:
    """What clients meet again and again."""
    found, times = None, 0
    while times < SETTLED:
        again = played.seen()
        times = times + 1 if again == found else 0
        found = again
    return found


def record(release: str, name: str) -> None:
    found = {}
    with playing(release, name) as played:
        for step, act in SCENES[name].steps.items():
            found[step] = [act(played), settled(played)]
            print(step, json.dumps(found[step]), flush=True)
    write_recorded(name, release, found)


if __name__ == "__main__":
    record(*sys.argv[1:])
