"""A broker that somebody else runs, and that a target file has commands for."""

from __future__ import annotations

import subprocess
import time

from touchstone.harness.model.target import Address, OutOfScope, StartFailed
from touchstone.harness.targets import probe, templates
from touchstone.harness.targets.description import Description
from touchstone.harness.targets.process import POLL_SECONDS

SECONDS = 120.0


class CommandedNode:
    """One broker in the hands of the nemesis (the Node of harness/model/target.py).

    A verb returns when its command has ended well; `start` waits until the broker answers, since a
    command that starts a container or a service returns before that.
    """

    def __init__(self, described: Description, node: int, address: Address) -> None:
        self.described, self.node, self.address = described, node, address

    def start(self) -> None:
        self._run("start")
        deadline = time.monotonic() + SECONDS
        while not self._serves():
            if time.monotonic() > deadline:
                raise StartFailed(
                    f"{self.described.name}: broker {self.node} does not answer at"
                    f" {self.address[0]}:{self.address[1]} {SECONDS:.0f} s after control.start of"
                    f" {self.described.file}"
                )
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        self._run("stop")

    def kill(self) -> None:
        self._run("kill")

    def pause(self) -> None:
        self._run("pause")

    def resume(self) -> None:
        self._run("resume")

    def _serves(self) -> bool:
        try:
            return self.node in probe.metadata(self.address).brokers
        except probe.NotReady:
            return False

    def _run(self, verb: str) -> None:
        """The file's command for this verb; OutOfScope where it has none."""
        what = f"control.{verb} of {self.described.file}"
        if verb not in self.described.control:
            raise OutOfScope(f"no {what}: {self.name} cannot be harmed in this way")
        host, port = self.address
        values = {"node": str(self.node), "host": host, "port": str(port)}
        values["here"] = str(self.described.file.resolve().parent)
        argv = templates.argv(self.described.control[verb], values, {})
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, timeout=SECONDS, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise StartFailed(f"{what}: {argv[0]}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise StartFailed(f"{what}: it did not end in {SECONDS:.0f} s") from None
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            raise StartFailed(f"{what} ended with {done.returncode}: {said[-1][:300]}")

    @property
    def name(self) -> str:
        return f"broker {self.node} of {self.described.name}"
