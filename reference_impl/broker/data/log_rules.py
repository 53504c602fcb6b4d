"""A persona's logs get its quirks as the log's own `Rules`."""

from __future__ import annotations

from dataclasses import fields

from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.log.rules import Rules


def rules_of(persona: Persona) -> Rules:
    """Every field of `Rules` is the quirk `append.` + its name in kebab case."""
    names = {field.name: "append." + field.name.replace("_", "-") for field in fields(Rules)}
    names["invalid_record"] = "append.invalid-record-code"
    return Rules(**{field: persona.quirk(name) for field, name in names.items()})
