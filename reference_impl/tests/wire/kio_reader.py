"""A process of its own in which kio reads and writes: it may abort on bytes it does not expect.

stdin: one JSON line ["module:Class", hex] per message. stdout: one JSON line per message, with the
bytes kio wrote after reading them, or what it said.
"""

import importlib
import io
import json
import sys

from kio.serial import entity_reader, entity_writer


def rewritten(where: str, data: bytes) -> str:
    module, _, name = where.partition(":")
    entity = getattr(importlib.import_module(module), name)
    value, size = entity_reader(entity)(data, 0)
    out = io.BytesIO()
    entity_writer(entity)(out, value)
    return out.getvalue().hex() if size == len(data) else f"read {size} of {len(data)} bytes"


def main() -> None:
    for line in sys.stdin:
        where, data = json.loads(line)
        try:
            answer = rewritten(where, bytes.fromhex(data))
        except Exception as error:
            answer = repr(error)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
