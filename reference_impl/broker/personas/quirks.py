"""The register of quirks: every behaviour in which two releases differ, named once.

A name says the behaviour, the sentence says what the values mean. Personas give each a value with
its evidence; handlers read values through `Persona.quirk`. A behaviour that all five releases
share is no quirk and stands in its handler.
"""

from typing import Any

from touchstone.reference_impl.broker.personas import (
    acl_path,
    consumer_path,
    control_path,
    controller_path,
    data_path,
    disk_path,
    group_path,
    log_path,
    registry_path,
    replica_path,
    security_path,
    txn_path,
)
from touchstone.reference_impl.broker.personas.releases import value_in

TABLES = (
    acl_path,
    control_path,
    data_path,
    disk_path,
    group_path,
    consumer_path,
    log_path,
    registry_path,
    controller_path,
    replica_path,
    security_path,
    txn_path,
)

QUIRKS: dict[str, str] = {
    name: sentence for table in TABLES for name, (sentence, _, _) in table.ROWS.items()
}


def column(release: str) -> dict[str, tuple[Any, str]]:
    """The quirks of one release, of all tables: name -> (value, evidence)."""
    return {
        name: (value_in(changes, release), evidence)
        for table in TABLES
        for name, (_, changes, evidence) in table.ROWS.items()
    }
