"""A persona's logs get its quirks as the log's own `Rules`."""

from __future__ import annotations

from dataclasses import fields

from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.log.rules import Rules

_QUIRKS = {each.name: "append." + each.name.replace("_", "-") for each in fields(Rules)}
_QUIRKS["invalid_record"] = "append.invalid-record-code"
_QUIRKS["whole_entries_first"] = "produce.looks-at-magic-of-whole-entries"


def rules_of(persona: Persona) -> Rules:
    """Every field of `Rules` is the quirk `append.` + its name in kebab case, but for two."""
    return Rules(**{field: persona.quirk(name) for field, name in _QUIRKS.items()})
