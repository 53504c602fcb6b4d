"""SaslHandshake: this listener is plain, so nobody is asked who he is.

Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, persona: Persona, now: int) -> Struct:
    mechanisms = persona.quirk("sasl.mechanisms-of-a-plain-listener")
    return {"error_code": ErrorCode.ILLEGAL_SASL_STATE, "mechanisms": list(mechanisms)}
