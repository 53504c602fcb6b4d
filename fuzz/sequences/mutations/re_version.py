"""Say a step in another version of its API: decoded, and encoded with what that version has."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Script
from touchstone.fuzz.segments import SIZE
from touchstone.fuzz.sequences.arrange import with_step
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, encode_request


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not script.steps:
        return script
    number = draw.randrange(len(script.steps))
    step = script.steps[number]
    try:
        request = decode_request(step.wire[SIZE:])
        header = request.header
        versions = [v for v in API[header.key].request.all_versions() if v != header.version]
        if not versions:
            return script
        wire = encode_request(
            header.key, draw.choice(versions), header.correlation_id, header.client_id, request.body
        )
    except (ValueError, struct.error):
        return script  # it cannot be opened, or has what the other version cannot say
    return with_step(script, number, replace(step, wire=frame(wire)))
