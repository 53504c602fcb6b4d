"""SaslHandshake: here its peer is known already, or nobody asks who it is.

What a handshake does before that is `broker/security`'s.

Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.configs.listener_settings import (
    DEFAULT_MECHANISM,
    ENABLED_MECHANISMS,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, node: ConfiguredNode, persona: Persona, now: int) -> Struct:
    names: list[str] = []
    if persona.quirk("sasl.refused-handshakes-name-mechanisms"):
        names = node.config.get(ENABLED_MECHANISMS, DEFAULT_MECHANISM).split(",")
    return {
        "error_code": ErrorCode.ILLEGAL_SASL_STATE,
        "mechanisms": [name.strip() for name in names if name.strip()],
    }
