"""A container of any image, started, harmed and removed through the `docker` command.

`container` runs Kafka's own releases through the engine's Python packages; a target file may name
any image, and the command is what its author has tried it with. `docker run` stays in the
foreground, so that a container's output and its end are a child's, as for any other process; what
must reach the container itself (kill, pause) is a command of its own.

Containers share the host's network unless the file publishes ports: a broker then listens on the
very address that it tells its clients, and several find one another without a network of theirs.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from touchstone.harness.model.target import StartFailed, Unavailable
from touchstone.harness.targets.child import Child, Watchdog, remove

OWNER = "touchstone.pid"  # the label by which containers of a killed run are known
FOLDER = "touchstone.folder"  # and the folder of theirs, into which they write until they end
SECONDS = 60.0
PULL_SECONDS = 900.0


def ask_engine() -> None:
    """Raise Unavailable unless the command is here and an engine answers it."""
    if shutil.which("docker") is None:
        raise Unavailable("no Docker command")
    if _docker("version", "--format", "{{.Server.Version}}").returncode:
        raise Unavailable("no Docker engine")


def have(reference: str) -> None:
    """Have the image here, pulled if need be. Raises Unavailable."""
    if _docker("image", "inspect", "--format", "{{.Id}}", reference).returncode == 0:
        return
    pulled = _docker("pull", "--quiet", reference, seconds=PULL_SECONDS)
    if pulled.returncode:
        said = (pulled.stderr.strip() or "it said nothing").splitlines()[-1]
        raise Unavailable(f"no image {reference} (docker pull: {said[:300]})")


def remove_orphans() -> None:
    """Remove containers of runs of this machine that were killed, and their folders."""
    shown = '{{.ID}} {{.Label "' + OWNER + '"}} {{.Label "' + FOLDER + '"}}'
    listed = _docker("ps", "--all", "--filter", f"label={FOLDER}", "--format", shown)
    for line in listed.stdout.splitlines():
        container, pid, folder = line.split(" ", 2)
        if pid.isdigit() and not _is_running(int(pid)):
            _docker("rm", "--force", "--volumes", container)
            if Path(folder).parent == Path(tempfile.gettempdir()):
                remove(Path(folder))


class Container(Child):
    """One container in the hands of whoever holds a Child."""

    def __init__(
        self, reference: str, arguments: Sequence[str], environment: Mapping[str, str], *,
        publish: Sequence[str], folder: Path, log: Path, watchdog: Watchdog,
    ) -> None:  # fmt: skip
        self.name = f"touchstone-{os.getpid()}-{secrets.token_hex(4)}"
        options = ["--label", f"{OWNER}={os.getpid()}", "--label", f"{FOLDER}={folder.parent}"]
        options += ["--volume", f"{folder}:{folder}"]
        for ports in publish:
            options += ["--publish", ports]
        options += [] if publish else ["--network", "host"]
        for name, value in environment.items():
            options += ["--env", f"{name}={value}"]
        run = ["docker", "run", "--name", self.name, *options, reference, *arguments]
        super().__init__(run, log=log, cwd=folder, watchdog=watchdog)
        self._again = ["docker", "start", "--attach", self.name]

    def start(self) -> None:
        """Run it the first time; later start the same container with what it has written."""
        super().start()
        self.argv = self._again

    def pause(self) -> None:
        self._must("pause")
        self.paused = True

    def resume(self) -> None:
        self._must("unpause")
        self.paused = False

    def stop(self, seconds: float) -> bool:
        if self.paused:
            self.resume()
        if self.alive:
            _docker("stop", "-t", str(int(seconds)), self.name, seconds=seconds + SECONDS)
        ended = self.wait(SECONDS)
        if not ended:
            self.kill()
        return ended

    def kill(self) -> None:
        if self.alive:
            _docker("kill", self.name)
        super().kill()

    def remove(self) -> None:
        """End it and leave nothing of it with the engine."""
        self.kill()
        _docker("rm", "--force", "--volumes", self.name)

    def _must(self, verb: str) -> None:
        done = _docker(verb, self.name)
        if done.returncode:
            raise StartFailed(f"docker {verb} {self.name}: {done.stderr.strip()[:300]}")


def _docker(*words: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["docker", *words], capture_output=True, text=True, timeout=seconds, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(["docker", *words], 1, "", str(error))


def _is_running(pid: int) -> bool:
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
