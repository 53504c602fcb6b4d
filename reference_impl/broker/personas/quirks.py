"""The register of quirks: every behaviour in which two releases differ, named once.

A name says the behaviour, the sentence says what the values mean. Personas give each a value with
its evidence; handlers read values through `Persona.quirk`. A behaviour that all five releases
share is no quirk and stands in its handler.
"""

from reference_impl.broker.personas import data_path

QUIRKS: dict[str, str] = {
    **data_path.SENTENCES,
    "api-versions.fallback-lists-itself": (
        "An ApiVersions request of a version the broker does not know is answered in version 0 "
        "with UNSUPPORTED_VERSION and one row, ApiVersions' own range (KIP-511); without the "
        "quirk the list is empty."
    ),
}
