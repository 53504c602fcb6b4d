"""The golden file as cases; see its first lines for who wrote the bytes."""

from pathlib import Path
from typing import NamedTuple


class Golden(NamedTuple):
    kind: str
    format: str
    codec: str
    detail: str
    data: bytes
    result: bytes

    @property
    def id(self) -> str:
        return "-".join((self.kind, self.format, self.codec, self.detail))


def _cases() -> list[Golden]:
    cases = []
    for line in Path(__file__).with_name("golden.txt").read_text().splitlines():
        if line.startswith(("#", "varint")):
            continue
        kind, format_, codec, detail, data, *result = line.split()
        golden = (bytes.fromhex(data), bytes.fromhex("".join(result)))
        cases.append(Golden(kind, format_, codec, detail, *golden))
    return cases


CASES = _cases()


def varints() -> list[tuple[int, bytes]]:
    text = Path(__file__).with_name("golden.txt").read_text().rsplit("varint - - - ", 1)[1]
    pairs = (pair.split(":") for pair in text.split()[0].strip(",").split(","))
    return [(int(value), bytes.fromhex(data)) for value, data in pairs]


def of(kind: str) -> list[Golden]:
    return [case for case in CASES if case.kind == kind]
