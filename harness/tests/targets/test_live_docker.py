"""Real Kafka in containers: it comes, can be harmed, and leaves no container or network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness.model.target import Shape, StartFailed
from touchstone.harness.targets import parse, probe

pytestmark = [pytest.mark.live, pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]
container = pytest.importorskip(
    "touchstone.harness.targets.container", reason="not run: no Python package of the docker extra"
)


@pytest.fixture
def target(request):
    made = parse(f"docker@{request.param}")
    reason = made.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    yield made
    made.stop()


def left(pid):
    """What of this process's is still with the engine."""
    with container.engine() as client:
        wanted = {"label": f"{container.OWNER}={pid}"}
        return client.containers.list(all=True, filters=wanted) + client.networks.list(
            filters=wanted
        )


@pytest.mark.parametrize("target", ["4.3", "1.0"], indirect=True)
def test_one_container_comes_and_goes(target):
    endpoint = target.start(Shape())
    assert probe.metadata(endpoint.bootstrap[0]).brokers == dict(endpoint.brokers)
    assert target.start(Shape()) is endpoint
    assert left(os.getpid())
    target.stop()
    target.stop()
    assert left(os.getpid()) == []


@pytest.mark.parametrize("target", ["4.3"], indirect=True)
def test_two_containers_have_racks_and_can_be_harmed(target):
    hurried = {"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200}
    shape = Shape(2, ("a", "b"), hurried)
    endpoint = target.start(shape)
    assert probe.metadata(endpoint.bootstrap[1]).racks == {0: "a", 1: "b"}
    endpoint.nodes[1].kill()
    with pytest.raises(probe.NotReady):
        probe.api_versions(endpoint.bootstrap[1])
    assert target.start(shape) is endpoint
    endpoint.nodes[1].start()
    assert 1 in probe.metadata(endpoint.bootstrap[1]).brokers
    endpoint.nodes[0].pause()
    with pytest.raises(probe.NotReady, match="timed out"):
        probe.api_versions(endpoint.bootstrap[0], seconds=0.2)
    endpoint.nodes[0].resume()
    assert probe.api_versions(endpoint.bootstrap[0])


@pytest.mark.parametrize("target", ["4.3"], indirect=True)
def test_a_container_that_cannot_start_says_why(target):
    with pytest.raises(StartFailed, match="soon") as failed:
        target.start(Shape(config={"log.retention.ms": "soon"}))
    said = str(failed.value)
    assert "docker@4.3.1: broker-0 is exited" in said
    logs = Path(re.search(r"logs are in (\S+);", said)[1])
    assert (logs / "broker-0.log").stat().st_size
    shutil.rmtree(logs)
    assert left(os.getpid()) == []


@pytest.mark.parametrize("target", ["4.3"], indirect=True)
def test_containers_of_a_killed_run_are_removed_by_the_next(target):
    program = (
        "import os; from touchstone.harness.model.target import Shape;"
        "from touchstone.harness.targets import parse;"
        "parse('docker@4.3').start(Shape());"
        "print(os.getpid(), flush=True); os.kill(os.getpid(), 9)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    pid = int(said.stdout)
    assert left(pid)
    target.start(Shape())
    assert left(pid) == []
