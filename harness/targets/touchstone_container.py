"""The reference broker's image for testcontainers: a Kafka for tests, in half a second.

    from touchstone.containers import TouchstoneContainer

    with TouchstoneContainer(brokers=3, racks=["a", "b", "c"]) as kafka:
        kafka.get_bootstrap_server()      # "localhost:49153,localhost:49154,localhost:49155"

Brokers have to say under which address clients find them, and the engine chooses the published
ports when the container is already there. So the image's entry point waits for a file with the
addresses, and `start` writes it. Needs the extra `docker`; ci/images/broker has the image.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from testcontainers.core.container import DockerContainer

from touchstone.harness.model.target import StartFailed

IMAGE = "touchstone/broker:latest"
FIRST_PORT = 9092
FILE = "/tmp/advertised"
READY = b"ready "
START_SECONDS, POLL_SECONDS = 60.0, 0.02


class TouchstoneContainer(DockerContainer):
    """One container with some brokers, which all clients of this machine can reach.

    `brokers`, `racks`, `release` and `config` are those of `touchstone broker`; `arguments` are any
    others of its options. `options` go to DockerContainer.
    """

    def __init__(
        self, image: str = IMAGE, *, brokers: int = 1, racks: Sequence[str] = (),
        release: str | None = None, config: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (), **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(image, **options)
        self.inside = range(FIRST_PORT, FIRST_PORT + brokers)
        self.with_exposed_ports(*self.inside)
        self.with_env("TOUCHSTONE_ADVERTISED_FILE", FILE)
        words = ["--brokers", str(brokers)]
        words += ["--racks", ",".join(racks)] if racks else []
        words += ["--release", release] if release else []
        for name, value in (config or {}).items():
            words += ["--config", f"{name}={value}"]
        self.with_command([*words, *arguments])

    def start(self) -> TouchstoneContainer:
        """Start it and wait until it serves. Raises StartFailed, with what it said."""
        super().start()
        try:
            self._advertise()
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, force: bool = True, delete_volume: bool = True) -> None:
        """Remove it, and close the connections to the engine."""
        super().stop(force=force, delete_volume=delete_volume)
        self.get_docker_client().client.close()

    def get_bootstrap_server(self) -> str:
        """HOST:PORT[,HOST:PORT...] of every broker, for clients of this machine."""
        host = self.get_container_host_ip()
        return ",".join(f"{host}:{self.get_exposed_port(port)}" for port in self.inside)

    def _advertise(self) -> None:
        write = ["sh", "-c", 'printf %s "$1" > "$2"', "sh", self.get_bootstrap_server(), FILE]
        done = self.exec(write)
        if done.exit_code:
            raise StartFailed(f"{self.image}: {FILE} cannot be written: {done.output.decode()}")

    def _wait(self) -> None:
        """Ask what it says until it says that it is ready. Raises StartFailed."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            said, complained = self.get_logs()
            if any(line.startswith(READY) for line in said.splitlines()):
                return
            container = self.get_wrapped_container()
            container.reload()
            if container.status not in ("created", "running") or time.monotonic() > deadline:
                text = (said + complained).decode("utf-8", "replace")
                raise StartFailed(f"{self.image} is {container.status} and said\n{text}")
            time.sleep(POLL_SECONDS)
