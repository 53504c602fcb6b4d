"""The words between the harness and an adapter, JSON lines both ways (docs/adapter.md).

Events have the names of Kafka's VerifiableProducer and VerifiableConsumer (trunk, package
org.apache.kafka.tools) where those have one; the others are ours, since Kafka's programs take no
commands, have no transactions and say nothing of admin clients.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from touchstone.harness.model import bounded

READY, LACKS, RESET = "adapter_ready", "not_supported", "reset_complete"
# event: the fields that it must have, beside its name and its client
EVENTS: Mapping[str, tuple[str, ...]] = {
    READY: ("adapter", "version"),
    LACKS: ("what",),
    RESET: (),
    "startup_complete": (),
    "shutdown_complete": (),
    "client_error": ("operation", "exception", "message"),
    "producer_send_success": ("topic", "partition", "offset", "key", "value"),
    "producer_send_error": ("topic", "key", "value", "exception", "message"),
    "tool_data": (),
    "flush_complete": (),
    "transaction_complete": ("operation",),
    "records_consumed": ("count", "partitions", "records"),
    "partitions_assigned": ("partitions",),
    "partitions_revoked": ("partitions",),
    "partitions_lost": ("partitions",),
    "offsets_committed": ("offsets", "success"),
    "consumer_error": ("exception", "message"),
    "admin_result": ("operation", "result"),
    "command_done": ("command",),
}
OF_THE_ADAPTER = frozenset({READY, LACKS, RESET, "tool_data"})


class BadLine(ValueError):
    """A line that is no event; the message says why."""


def command(word: str, client: str | None, fields: Mapping[str, Any]) -> str:
    """A command as its line."""
    row = {"command": word} | ({} if client is None else {"client": client}) | dict(fields)
    return json.dumps(row, separators=(",", ":"))


def event(line: str) -> dict[str, Any]:
    """A line as an event. Raises BadLine."""
    try:
        row = bounded.json_of(line)
    except ValueError as error:
        raise BadLine(f"it is not JSON: {error}") from None
    if not isinstance(row, dict) or row.get("name") not in EVENTS:
        raise BadLine(f"an event has a name of {', '.join(EVENTS)}")
    name = row["name"]
    needed = EVENTS[name] if name in OF_THE_ADAPTER else ("client", *EVENTS[name])
    missing = [field for field in needed if field not in row]
    if missing:
        raise BadLine(f"{name} lacks {', '.join(missing)}")
    return row
