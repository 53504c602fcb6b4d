"""A cluster that a target file says how to start: its processes, in one folder, under a watchdog.

It counts as started when every process has written what the file waits for, and every broker
answers ApiVersions and Metadata and names as many brokers as were wanted. Whoever ends before that,
or is late, is a StartFailed that says what was waited for and quotes the end of the log.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from touchstone.harness.model.target import Address, Shape, StartFailed, Unavailable
from touchstone.harness.targets import (
    UnknownTarget,
    addresses,
    diagnosis,
    image,
    jvm,
    probe,
    reach,
    tools,
)
from touchstone.harness.targets.child import Child, Watchdog, remove
from touchstone.harness.targets.description import Before, Description, Start
from touchstone.harness.targets.ports import free_ports
from touchstone.harness.targets.process import POLL_SECONDS, STOP_SECONDS
from touchstone.harness.targets.rendering import BrokerPlace, Plan

ANSWER_SECONDS = 5.0
AGAIN_SECONDS = 0.5  # between attempts to start a broker whose old self is still registered


class DescribedCluster:
    """The processes of one shape; the shape's settings are those that are handed over."""

    def __init__(
        self, described: Description, shape: Shape, cache: Path | None,
        login: reach.Login | None = None,
    ) -> None:  # fmt: skip
        self.login = login
        assert described.start is not None
        self.described, self.shape = described, shape
        self.start_of: Start = described.start
        self.folder = Path(tempfile.mkdtemp(prefix=f"touchstone-{described.name}-"))
        self.logs = self.folder / "logs"
        self.keep = bool(os.environ.get("TOUCHSTONE_KEEP"))
        self.watchdog = Watchdog(None if self.keep else self.folder)
        self.constants = tools.constants(described, cache)
        self.before: list[Child] = []
        self.processes: list[BrokerProcess] = []
        self.started = time.monotonic()
        self.harmed = False  # whether a broker was stopped, killed or paused since that was asked
        self.addresses: tuple[Address, ...] = ()

    def start(self) -> None:
        """Start every process and wait for the whole."""
        self.logs.mkdir()
        if self.start_of.image:
            image.remove_orphans()
        plan = self._plan(self._ports())
        deadline = time.monotonic() + self.described.ready.seconds
        for process in self.start_of.before:
            self._run_before(plan, process, deadline)
        for number in range(plan.processes):
            child = self._broker(plan, number)
            self.processes.append(BrokerProcess(self, plan.places[number], child))
            self._begin(child, "start.command")
        self.wait(deadline, self.processes, lambda seconds: self._unready(plan, seconds))
        self.started = time.monotonic()

    def nodes(self, sight: probe.Sight) -> dict[int, BrokerProcess]:
        """Each broker that is a process of its own, by the id that the cluster knows it by."""
        if self.start_of.per != "broker":
            return {}
        by_port = {port: node for node, (_, port) in sight.brokers.items()}
        return {by_port.get(each.place.port, each.place.node): each for each in self.processes}

    def broken(self) -> bool:
        """Whether a process is gone that nobody stopped."""
        wanted = [each.child for each in self.processes if each.wanted]
        return not all(child.alive for child in (*self.before, *wanted))

    def deaf(self) -> bool:
        """Whether a broker does not answer. Crabka, started again, may run without ever listening:
        it waits for the controller's leader to tell it of the others.
        """
        for address in self.addresses:
            try:
                probe.api_versions(address, ANSWER_SECONDS)
            except probe.NotReady:
                return True
        return False

    def close(self, *, keep_logs: bool = False) -> None:
        """End every process; leave nothing, or the logs of a failure."""
        for child in (*(each.child for each in self.processes), *self.before):
            child.remove() if isinstance(child, image.Container) else child.kill()
        if keep_logs and not self.keep and any(self.logs.iterdir()):
            for path in self.folder.iterdir():
                if path != self.logs:
                    remove(path)
            self.watchdog.spare_folder()
        self.watchdog.close()

    def wait(
        self,
        deadline: float,
        processes: list[BrokerProcess],
        lacking: Callable[[float], str | None],
    ) -> None:
        """Poll until nothing is lacking; an ended process or the deadline is a StartFailed."""
        children = [*self.before, *(each.child for each in processes)]
        while True:
            for child in children:
                if child.exit_code is not None:
                    raise self.failed(child, f"ended with {child.exit_code} before it was ready")
            lacks = lacking(min(ANSWER_SECONDS, max(0.1, deadline - time.monotonic())))
            if lacks is None:
                return
            if time.monotonic() > deadline:
                seconds = f"{self.described.ready.seconds:g} s (ready.seconds)"
                raise self.failed(children[-1], f"was not ready in {seconds}: {lacks}")
            time.sleep(POLL_SECONDS)

    def unready(self, address: Address, brokers: int, seconds: float) -> str | None:
        """What keeps the broker at this address from serving, in words."""
        where = f"{address[0]}:{address[1]}"
        try:
            probe.api_versions(address, seconds)
            sight = probe.metadata(address, seconds)
        except probe.NotReady as silence:
            self._needs_no_login(address, silence)
            return f"{where} does not answer ApiVersions and Metadata ({silence})"
        if len(sight.brokers) < brokers:
            return f"{where} names {len(sight.brokers)} of {brokers} brokers"
        if self.described.ready.controller and sight.controller < 0:
            return f"{where} knows no controller"
        return None

    def _needs_no_login(self, address: Address, silence: probe.NotReady) -> None:
        """Raise StartFailed, in one line, where waiting is in vain: it wants a login, or refuses
        the one that the file describes.
        """
        refused = silence.__cause__
        if isinstance(refused, reach.LoginRefused):
            wanted: str | None = str(refused.strerror)
        else:
            ended = isinstance(silence, probe.Closed)
            wanted = diagnosis.login_wanted(address) if ended else None
        if wanted is not None:
            where, file = f"{address[0]}:{address[1]}", self.described.file
            said = f"{self.described.name}: {where}: {wanted}"
            raise StartFailed(f"{said}; [client] of {file} is where a target file says it")

    def failed(self, child: Child, what: str) -> StartFailed:
        """One line that says what to look at, then the end of the log."""
        file = self.described.file
        return StartFailed(
            f"{self.described.name}: {child.log.stem} {what}; it was started as [start] of {file}"
            f" says; logs are in {self.logs}; {child.log.name} says\n{child.excerpt()}"
        )

    def _unready(self, plan: Plan, seconds: float) -> str | None:
        """What of the whole cluster is lacking."""
        ready = self.described.ready
        for each in self.processes:
            if ready.output and not ready.output.search(each.child.said()):
                return f"it wrote nothing like ready.output {ready.output.pattern!r}"
        listed = tuple((self.start_of.host, place.port) for place in plan.places)
        self.addresses = self._told() or listed
        reach.log_in(self.addresses, self.login)
        for address in self.addresses:
            lacks = self.unready(address, self.shape.brokers, seconds)
            if lacks:
                return lacks
        return None

    def _told(self) -> tuple[Address, ...]:
        """The addresses in the broker's own words, where it chooses its ports."""
        ready = self.described.ready
        if not ready.tells_addresses or ready.output is None:
            return ()
        child = self.processes[0].child
        found = ready.output.search(child.said())
        try:
            return addresses(found["addresses"] if found else "")
        except UnknownTarget as error:
            raise self.failed(child, f"wrote no addresses for ready.output: {error}") from None

    def _ports(self) -> list[int]:
        """The brokers' ports, those beside them, and one for each process before them."""
        start, brokers = self.start_of, self.shape.brokers
        beside = brokers * len(start.other_ports) + len(start.before)
        if start.port is None:
            return free_ports(brokers + beside)
        fixed = [start.port + number for number in range(brokers)]
        for port in fixed:
            self._must_be_free(port)
        return [*fixed, *free_ports(beside)]

    def _must_be_free(self, port: int) -> None:
        host, file = self.start_of.host, self.described.file
        with socket.socket() as held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                held.bind((host, port))
            except OSError as error:
                raise StartFailed(
                    f"{self.described.name}: {host}:{port} cannot be used ({error.strerror}): end"
                    f" what listens there, or change start.port in {file}"
                ) from None

    def _plan(self, ports: list[int]) -> Plan:
        start, brokers = self.start_of, self.shape.brokers
        left = iter(ports[brokers:])
        places = [
            BrokerPlace(
                start.first_node + number, ports[number], self.shape.rack_of(number) or "",
                {name: next(left) for name in start.other_ports},
            )
            for number in range(brokers)
        ]  # fmt: skip
        before = {process.name: next(left) for process in start.before}
        return Plan(
            self.described, self.shape, self.constants, jvm.new_id(), self.folder, places, before
        )

    def _run_before(self, plan: Plan, process: Before, deadline: float) -> None:
        """Start it and wait until it has written its line, or listens."""
        child = self._child(
            plan, process.name, plan.before_argv(process), plan.before_environment(process)
        )
        self._begin(child, f"start.before.{process.name}")
        self.before.append(child)
        address = (self.start_of.host, plan.before[process.name])

        def lacking(seconds: float) -> str | None:
            if process.output is not None:
                told = process.output.search(child.said())
                return None if told else f"it wrote nothing like {process.output.pattern!r}"
            try:
                socket.create_connection(address, seconds).close()
            except OSError as error:
                return f"{address[0]}:{address[1]}: {error.strerror or error}"
            return None

        self.wait(deadline, [], lacking)

    def _broker(self, plan: Plan, number: int) -> Child:
        name = f"broker-{number}"
        folder = plan.own(name)
        (folder / "data").mkdir(parents=True)
        for file, text in plan.files(number).items():
            (folder / file).write_text(text, encoding="utf-8")
        if self.start_of.image is None:
            return self._child(plan, name, plan.argv(number), plan.environment(number))
        self.folder.chmod(0o755)  # an image may run as a user of its own
        (folder / "data").chmod(0o777)
        return image.Container(
            self.start_of.image, plan.argv(number), plan.environment(number),
            publish=plan.published(number), folder=folder, log=self.logs / f"{name}.log",
            watchdog=self.watchdog,
        )  # fmt: skip

    def _child(
        self, plan: Plan, name: str, argv: list[str], environment: Mapping[str, str]
    ) -> Child:
        folder = plan.own(name)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        pairs = [f"{key}={value}" for key, value in environment.items()]
        argv = ["env", *pairs, *argv] if pairs else argv
        return Child(argv, log=self.logs / f"{name}.log", cwd=folder, watchdog=self.watchdog)

    def _begin(self, child: Child, key: str) -> None:
        try:
            child.start()
        except OSError as error:
            raise Unavailable(
                f"{key} of {self.described.file}: {error.filename or child.argv[0]}:"
                f" {error.strerror}"
            ) from None


class BrokerProcess:
    """One broker in the hands of the nemesis (the Node of harness/model/target.py)."""

    def __init__(self, cluster: DescribedCluster, place: BrokerPlace, child: Child) -> None:
        self.cluster, self.place, self.child = cluster, place, child
        self.address = (cluster.start_of.host, place.port)
        self.wanted = True  # False while somebody has stopped or killed it on purpose
        self.frozen = False

    def start(self) -> None:
        """Start it again with its data; one that is refused at first is started until it stays.

        What keeps the metadata may still know the killed one, until its session is over.
        """
        self.wanted = True
        deadline = time.monotonic() + self.cluster.described.ready.seconds
        while True:
            if not self.child.alive:
                self.child.start()
            try:
                return self._wait(deadline)
            except StartFailed:
                if self.child.alive or time.monotonic() > deadline:
                    raise
            time.sleep(AGAIN_SECONDS)

    def stop(self) -> None:
        self.wanted, self.cluster.harmed = False, True
        self.child.stop(STOP_SECONDS)

    def kill(self) -> None:
        self.wanted, self.cluster.harmed = False, True
        self.child.kill()

    def pause(self) -> None:
        self.frozen = self.cluster.harmed = True
        self.child.pause()

    def resume(self) -> None:
        self.child.resume()
        self.frozen = False

    def _wait(self, deadline: float) -> None:
        """Until it serves and names itself; the others may be down."""

        def lacking(seconds: float) -> str | None:
            lacks = self.cluster.unready(self.address, 1, seconds)
            return lacks or self._unnamed(seconds)

        self.cluster.wait(deadline, [self], lacking)

    def _unnamed(self, seconds: float) -> str | None:
        try:
            named = probe.metadata(self.address, seconds).brokers.values()
        except probe.NotReady as silence:
            return str(silence)
        alone = any(port == self.place.port for _, port in named)
        return None if alone else f"port {self.place.port} is not among the brokers that it names"
