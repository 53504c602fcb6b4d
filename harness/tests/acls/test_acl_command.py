"""Kafka's own AclCommand (4.3.1) says the same of our broker as of Kafka 4.3.1.

What it prints is compared line by line, without order: it prints sets.
"""

from __future__ import annotations

import pytest

from touchstone.harness.bench import java_tools
from touchstone.harness.tests.acls import comparing

pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
              pytest.mark.timeout(900)]  # fmt: skip
COMMAND = "org.apache.kafka.tools.AclCommand"
RELEASE = "4.3"
STEPS = (
    ("--add", "--allow-principal", "User:alice", "--producer", "--topic", "orders"),
    ("--add", "--allow-principal", "User:bob", "--consumer", "--topic", "orders", "--group", "g"),
    ("--add", "--deny-principal", "User:eve", "--deny-host", "10.0.0.1", "--operation", "Write",
     "--topic", "or", "--resource-pattern-type", "prefixed"),
    ("--add", "--allow-principal", "User:*", "--operation", "Describe", "--operation", "Alter",
     "--cluster"),
    ("--add", "--allow-principal", "User:alice", "--producer", "--topic", "x",
     "--transactional-id", "t"),
    ("--list",),
    ("--list", "--topic", "orders", "--resource-pattern-type", "match"),
    ("--list", "--principal", "User:bob"),
    ("--remove", "--force", "--allow-principal", "User:bob", "--consumer", "--topic", "orders",
     "--group", "g"),
    ("--remove", "--force", "--topic", "or", "--resource-pattern-type", "any"),
    ("--remove", "--force", "--topic", "nothing"),
    ("--list",),
)  # fmt: skip


def told(bootstrap: str, step: tuple[str, ...]) -> list[str]:
    """What the command prints; an error of the tool is what it says about it."""
    try:
        said = java_tools._run(COMMAND, "--bootstrap-server", bootstrap, *step, complaints=True)
    except java_tools.ToolFailed as failed:
        said = str(failed)
    return sorted(line.strip() for line in said.splitlines() if line.strip())


def test_the_acl_command_says_the_same():
    with comparing.brokers(RELEASE) as brokers:
        for step in STEPS:
            kafkas, ours = (told(each.bootstrap, step) for each in brokers)
            assert ours == kafkas, step
            assert kafkas or "--remove" in step, step
