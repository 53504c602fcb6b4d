"""The five releases the reference broker can be. `persona("2.8")`, `persona("2.8.2")`."""

from touchstone.reference_impl.broker.personas import v1_0, v2_2, v2_8, v3_9, v4_3
from touchstone.reference_impl.broker.personas.persona import Feature, Persona
from touchstone.reference_impl.broker.personas.quirks import QUIRKS

__all__ = ["PERSONAS", "QUIRKS", "Feature", "Persona", "persona"]

PERSONAS: dict[str, Persona] = {
    module.PERSONA.release: module.PERSONA for module in (v1_0, v2_2, v2_8, v3_9, v4_3)
}


def persona(release: str) -> Persona:
    """The persona of a short name or of any full name of that line; KeyError for others."""
    short = ".".join(release.split(".")[:2])
    try:
        return PERSONAS[short]
    except KeyError:
        raise KeyError(f"no persona for {release!r}; there are {', '.join(PERSONAS)}") from None
