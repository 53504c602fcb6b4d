"""Our image under testcontainers: clients outside find every broker, and a bad start is told."""

from __future__ import annotations

import contextlib
import importlib
import subprocess

import pytest

from touchstone.harness.model.target import StartFailed
from touchstone.harness.targets import probe

pytestmark = [pytest.mark.docker, pytest.mark.slow]
module = pytest.importorskip(
    "touchstone.harness.targets.touchstone_container",
    reason="not run: no Python package of the docker extra",
    exc_type=ImportError,
)
testcontainers_config = importlib.import_module("testcontainers.core.config").testcontainers_config


@pytest.fixture(autouse=True)
def engine(monkeypatch):
    """An engine with the image. The reaper of testcontainers is an image that has to be pulled."""
    found = None
    with contextlib.suppress(OSError):
        found = subprocess.run(
            ["docker", "image", "inspect", module.IMAGE], capture_output=True, check=False
        )
    if found is None or found.returncode:
        pytest.skip(f"not run: no image {module.IMAGE} (ci/images/broker/Dockerfile builds it)")
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)


def test_clients_outside_find_every_broker():
    with module.TouchstoneContainer(brokers=3, racks=["a", "b", "c"]) as kafka:
        told = [word.rpartition(":") for word in kafka.get_bootstrap_server().split(",")]
        addresses = [(host, int(port)) for host, _, port in told]
        for address in addresses:
            assert list(probe.metadata(address).brokers.values()) == addresses


def test_release_and_settings_reach_the_broker():
    config = {"num.partitions": "7"}
    with module.TouchstoneContainer(release="2.8", config=config) as kafka:
        host, _, port = kafka.get_bootstrap_server().rpartition(":")
        assert probe.api_versions((host, int(port)))[0] == (0, 9)
        words = kafka.get_wrapped_container().attrs["Args"]
        assert "num.partitions=7" in words


def test_a_broker_that_does_not_start_says_why_and_leaves_no_container():
    kafka = module.TouchstoneContainer(release="9.9")
    with pytest.raises(StartFailed, match=r"no persona for '9\.9'"):
        kafka.start()
    named = kafka.get_container_id() if kafka.get_wrapped_container() else ""
    listed = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--no-trunc"], capture_output=True, text=True,
        check=True,
    ).stdout.split()  # fmt: skip
    assert named not in listed
