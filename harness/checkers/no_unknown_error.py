"""UNKNOWN_SERVER_ERROR (-1) is what Kafka says when it did not foresee an exception: never legal.

A -1 is a broker's bug even where an API's documentation allows it. Kafka has such bugs too; those
that the five releases were seen to have are EXCUSED, each with what in the request brings it about,
so that the checker is silent on Kafka and a broker that copies Kafka is not blamed.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.schema import Struct

UNKNOWN_SERVER_ERROR = -1
OPERATIONS = range(4)  # of IncrementalAlterConfigs: set, delete, append, subtract
ZOOKEEPER = ("1.0", "2.2", "2.8")
PLACING = ("CreateTopics", "CreatePartitions", "Metadata")


def _null_config(request: Struct, release: str | None) -> bool:
    """A config value that is null: up to 2.8 it becomes a NullPointerException in the handler."""
    entries = request.get("topics") or request.get("resources") or ()
    return any(c["value"] is None for entry in entries for c in entry["configs"] or ())


def _any_config(request: Struct, release: str | None) -> bool:
    """1.0.2 knows no INVALID_CONFIG for CreateTopics: its ConfigException is unforeseen."""
    return release == "1.0" and any(topic["configs"] for topic in request.get("topics") or ())


def _null_records(request: Struct, release: str | None) -> bool:
    """Produce without records: a NullPointerException, answered so by 2.8.2, not at all later."""
    return any(
        part["records"] is None
        for topic in request.get("topic_data") or ()
        for part in topic["partition_data"] or ()
    )


def _unknown_operation(request: Struct, release: str | None) -> bool:
    """An operation that nobody defined: a NullPointerException or a switch without that branch."""
    return any(
        config["config_operation"] not in OPERATIONS
        for entry in request.get("resources") or ()
        for config in entry["configs"] or ()
    )


Excuse = Callable[[Struct, str | None], bool]
EXCUSED: dict[str, tuple[Excuse, ...]] = {
    "CreateTopics": (_null_config, _any_config),
    "AlterConfigs": (_null_config,),
    "IncrementalAlterConfigs": (_null_config, _unknown_operation),
    "Produce": (_null_records,),
}


def _mixed_racks(transcript: Transcript) -> bool:
    """Placement that meets brokers with and without a rack throws what has no code of its own."""
    racks = {
        broker["rack"] is None
        for _, answer in walks.decoded(transcript)
        for broker in answer.get("brokers") or ()
        if "rack" in broker
    }
    return len(racks) > 1


def check(transcript: Transcript) -> list[Finding]:
    release = transcript.header.release
    found = []
    mixed = release in ZOOKEEPER and _mixed_racks(transcript)
    for trip, answer in walks.decoded(transcript):
        request = walks.request_of(trip)
        excuses = EXCUSED.get(walks.api_of(trip), ())
        if mixed and walks.api_of(trip) in PLACING:
            continue
        if any(excuse(request, release) for excuse in excuses):
            continue
        for path, name, value in walks.leaves(answer):
            if name.endswith("error_code") and value == UNKNOWN_SERVER_ERROR:
                word = "UNKNOWN_SERVER_ERROR is no answer"
                found.append(Finding("no-unknown-error", trip.label, path, word))
    return found
