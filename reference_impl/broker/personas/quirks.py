"""The register of quirks: every behaviour in which two releases differ, named once.

A name says the behaviour, the sentence says what the values mean. Personas give each a value with
its evidence; handlers read values through `Persona.quirk`. A behaviour that all five releases
share is no quirk and stands in its handler.
"""

from reference_impl.broker.personas import (
    control_path,
    controller_path,
    data_path,
    disk_path,
    group_path,
    log_path,
    registry_path,
    replica_path,
    txn_path,
)

QUIRKS: dict[str, str] = {
    **control_path.SENTENCES,
    **data_path.SENTENCES,
    **disk_path.SENTENCES,
    **group_path.SENTENCES,
    **log_path.SENTENCES,
    **registry_path.SENTENCES,
    **controller_path.SENTENCES,
    **replica_path.SENTENCES,
    **txn_path.SENTENCES,
}
