"""Coordinators of groups and transactional ids among several brokers: asked, placed, replaced.

The log of a coordinator is made by hand before anybody else does, so that its leader, who
coordinates, and its successors are known.
"""

from typing import Any

from touchstone.harness.model.placeholders import Coordinator, Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import at_controller, create_topic, find_coordinator
from touchstone.reference_impl.wire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1  # types of keys in FindCoordinator
FORMER = Ref("coordinator", "node_id")  # as the step "coordinator" found it


def at(key: Any, connection: str = "before", *, key_type: int = GROUP) -> dict[str, Any]:
    """Spread into a builder: ask the key's coordinator, looked up for this connection."""
    return {"broker": Coordinator(key, key_type), "connection": connection}


def log_placed(log: str, row: Any, *, name: str, **how: Any) -> Until:
    """The log of a coordinator has one partition, on these brokers."""
    made = create_topic(log, assignments={0: row}, name=name, **how, **at_controller())
    return Until(made, "topics[0].error_code", "==", ErrorCode.TOPIC_ALREADY_EXISTS)


def coordinator_known(key: Any, *, key_type: int = GROUP) -> Until:
    """Broker 0 knows the key's coordinator, which is FORMER from then on."""
    asked = find_coordinator(key, key_type=key_type, name="coordinator")
    return Until(asked, "error_code", "==", ErrorCode.NONE)


def next_coordinator_known(key: Any, *, key_type: int = GROUP) -> Until:
    """Broker 0 knows another coordinator of the key than FORMER."""
    asked = find_coordinator(key, key_type=key_type, name="next coordinator")
    return Until(asked, "error_code", "==", ErrorCode.NONE, also=(("node_id", "!=", FORMER),))
