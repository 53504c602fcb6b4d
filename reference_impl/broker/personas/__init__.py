"""The releases that the reference broker can be. `persona("2.8")`, `persona("2.8.2")`."""

from importlib import import_module

from touchstone.reference_impl.broker.personas.persona import Feature, Persona
from touchstone.reference_impl.broker.personas.quirks import QUIRKS
from touchstone.reference_impl.broker.personas.releases import RELEASES

__all__ = ["PERSONAS", "QUIRKS", "RELEASES", "Feature", "Persona", "persona"]

PERSONAS: dict[str, Persona] = {
    release: import_module(f"{__name__}.v{release.replace('.', '_')}").PERSONA
    for release in RELEASES
}


def persona(release: str) -> Persona:
    """The persona of a short name or of any full name of that line; KeyError for others."""
    short = ".".join(release.split(".")[:2])
    try:
        return PERSONAS[short]
    except KeyError:
        raise KeyError(f"no persona for {release!r}; there are {', '.join(PERSONAS)}") from None
