"""What the newest release also lists and serves where `unstable.api.versions.enable` is true.

Kafka marks versions that are not finished (`latestVersionUnstable` in its schemas) and lists them
only where this setting says so. Here they are what the schemas have beyond what the release lists,
and whole APIs that no release lists yet: a request type that was just added is a schema and a
handler, and can be tried before a release has it.

Source: ServerConfigs.UNSTABLE_API_VERSIONS_ENABLE_CONFIG at 4.3.1; a 4.3.1 with the setting lists
InitProducerId 0-6, and everything else as without it.
"""

from __future__ import annotations

from dataclasses import replace

from touchstone.reference_impl.broker import unsupported_apis
from touchstone.reference_impl.broker.personas import PERSONAS, RELEASES, Persona
from touchstone.reference_impl.broker.personas.persona import Ranges
from touchstone.reference_impl.wire.apis import API


def with_unstable(persona: Persona) -> Persona:
    """The persona with its unstable versions on the broker's listener. Raises ValueError for an
    older release: the schemas do not keep versions that a later release has taken back.
    """
    if persona.release != RELEASES[-1]:
        raise ValueError(
            "unstable.api.versions.enable=true is not obeyed, so it is refused: "
            f"only release {RELEASES[-1]} has unstable versions here, not {persona.release}"
        )
    listed = dict(persona.broker_listener)
    for key in sorted(API):
        versions = API[key].request.all_versions()
        if key in listed:
            listed[key] = (listed[key][0], versions[-1])
        elif not _is_decided(key):
            listed[key] = (versions[0], versions[-1])
    return replace(persona, broker_listener=listed)


def _is_decided(key: int) -> bool:
    """Whether some release lists the key, or none is meant to, on a listener for clients."""
    tables: list[Ranges] = [
        table
        for one in PERSONAS.values()
        for table in (one.broker_listener, one.controller_listener, one.unlisted_but_served)
    ]
    return key in unsupported_apis.NOT_FOR_CLIENTS or any(key in table for table in tables)
