"""What each process of a described cluster is started with, as pure functions of values.

A broker's own values (its port, its rack) and the whole cluster's (all ports, all racks) fill the
templates of the target file. A variable is left out when a placeholder in it is empty, as an inner
list of a command is: a broker without a rack gets no `KAFKA_BROKER_RACK`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import templates
from touchstone.harness.targets.description import Before, Description, Start
from touchstone.harness.targets.settings import with_key_file


@dataclass(frozen=True, slots=True)
class BrokerPlace:
    """Where one broker stands: its id, its rack, and the ports that it listens on."""

    node: int
    port: int
    rack: str = ""
    others: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Everything that a cluster is started with; `before` has the ports of what runs first."""

    described: Description
    shape: Shape
    constants: Mapping[str, str]
    cluster: str
    folder: Path
    places: Sequence[BrokerPlace]
    before: Mapping[str, int]

    @property
    def start(self) -> Start:
        assert self.described.start is not None
        return self.described.start

    @property
    def processes(self) -> int:
        """How many processes serve the brokers."""
        return 1 if self.start.per == "cluster" else len(self.places)

    def own(self, name: str) -> Path:
        """The folder of one process."""
        return self.folder / name

    def argv(self, number: int) -> list[str]:
        """The command of one broker, or the arguments of its image."""
        return templates.argv(self.start.command, self.values(number), self._spliced())

    def environment(self, number: int) -> dict[str, str]:
        handed = self._handed("environment")
        named = dict(pair.split("=", 1) for pair in handed)
        return self.filled(self.start.environment, self.values(number)) | named

    def files(self, number: int) -> dict[str, str]:
        values = {**self.values(number), "settings": "\n".join(self._handed("file"))}
        return {name: templates.fill(text, values) for name, text in self.start.files.items()}

    def published(self, number: int) -> list[str]:
        return [templates.fill(text, self.values(number)) for text in self.start.publish]

    def before_argv(self, process: Before) -> list[str]:
        return templates.argv(process.command, self._before_values(process), {})

    def before_environment(self, process: Before) -> dict[str, str]:
        return self.filled(process.environment, self._before_values(process))

    def values(self, number: int) -> dict[str, str]:
        """Every placeholder of one broker."""
        values = self._values(number)
        for name, text in self.start.lists.items():
            each = range(len(self.places))
            values[name] = ",".join(templates.fill(text, self._values(at)) for at in each)
        return values

    def _values(self, number: int) -> dict[str, str]:
        place, start = self.places[number], self.start
        process = f"broker-{number if start.per == 'broker' else 0}"
        return {
            **self._cluster(),
            **self._folders(process),
            "port": str(place.port),
            "node": str(place.node),
            "rack": place.rack,
            **{f"port.{name}": str(port) for name, port in place.others.items()},
        }

    def _before_values(self, process: Before) -> dict[str, str]:
        return {**self._cluster(), **self._folders(process.name)}

    def _cluster(self) -> dict[str, str]:
        host, places = self.start.host, self.places
        racks = ",".join(place.rack for place in places) if self.shape.racks else ""
        values = {
            **self.constants,
            "host": host,
            "ports": ",".join(str(place.port) for place in places),
            "bootstrap": ",".join(f"{host}:{place.port}" for place in places),
            "nodes": ",".join(str(place.node) for place in places),
            "brokers": str(len(places)),
            "racks": racks,
            "cluster": self.cluster,
            **{f"port.{name}": str(port) for name, port in self.before.items()},
        }
        for name in self.start.other_ports:
            values[f"ports.{name}"] = ",".join(str(place.others[name]) for place in places)
        return values

    def _folders(self, process: str) -> dict[str, str]:
        folder = self.own(process)
        return {"folder": str(folder), "data": str(folder / "data")}

    def _handed(self, carrier: str) -> list[str]:
        handover = self.start.settings
        if handover is None or handover.carrier != carrier:
            return []
        return handover.rendered(with_key_file(self.shape.settings))

    def _spliced(self) -> dict[str, list[str]]:
        return {"settings": self._handed("arguments")}

    @staticmethod
    def filled(table: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
        """The variables whose placeholders all have a value."""
        return {
            name: templates.fill(text, values)
            for name, text in table.items()
            if all(values[placeholder] for placeholder in templates.names(text))
        }
