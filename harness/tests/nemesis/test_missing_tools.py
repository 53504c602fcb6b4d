"""A program that this machine lacks refuses the faults that need it, and no others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from touchstone.harness.cli import nemesis
from touchstone.harness.model.target import Endpoint
from touchstone.harness.nemesis import faults
from touchstone.harness.targets import isolation
from touchstone.harness.targets.isolation import Isolations

TOOLS = {"ip", "iptables", "tc", "cc", "mount", "umount", "mkfs.ext4"}
CUTS = {"one-way", "partition"}
# program -> the faults that need it
NEEDS = {
    "iptables": CUTS,
    "tc": {"slow-link"},
    "ip": {*CUTS, "slow-link"},
    "cc": {"clock-jump"},
    "mkfs.ext4": {"disk-error", "disk-full"},
    "tar": set(),
}


class Started:
    """A target whose brokers are programs of this machine; none of them runs."""

    kind, name, release = "process", "kafka@4.3", "4.3"

    def __init__(self) -> None:
        self.made = Isolations()

    def isolate(self, made) -> None:
        self.made = made()

    def available(self):
        return self.made.unsupported()

    def start(self, shape) -> Endpoint:
        node = SimpleNamespace(isolation=self.made)
        numbers = range(shape.brokers)
        return Endpoint(
            (), {n: ("127.0.0.1", n) for n in numbers}, nodes=dict.fromkeys(numbers, node)
        )


@pytest.mark.parametrize("program", NEEDS)
def test_a_missing_program_refuses_only_the_faults_that_need_it(program, monkeypatch, capsys):
    monkeypatch.setattr(isolation.shutil, "which", lambda name: name in TOOLS - {program} or None)
    monkeypatch.setattr(isolation.os, "geteuid", lambda: 0)
    monkeypatch.setattr(isolation.Path, "exists", lambda path: True)
    monkeypatch.setattr(nemesis, "parse", lambda word: Started())
    names = tuple(sorted(faults()))
    cluster, left = nemesis.started(nemesis.grounded("kafka@4.3", names), names, 3, {})
    assert cluster is not None and set(names) - set(left) == NEEDS[program]
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(NEEDS[program]) and all(
        program in line.partition("no ")[2] for line in said
    )
