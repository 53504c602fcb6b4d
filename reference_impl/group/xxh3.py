"""A broker of 4.1 and later remembers what its groups subscribe to by XXH3, 64 bits, seed 0.

`ConsumerGroupMetadata` keeps one such number in place of the topics, so a coordinator that loads a
group can tell whether a topic changed meanwhile only if it computes the very same number. Lengths
fall into classes with formulas of their own; a topic of few partitions is in the third, one of
fifty in the last.

Sources: xxHash specification 0.8 (XXH3_64bits, default secret); KIP-1101; hash4j's order of bytes
(little endian, a text as UTF-16 units and then its length), observed in records of 4.3.1.
"""

from __future__ import annotations

from struct import pack, unpack_from

_M32, _M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_P64 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)  # fmt: skip
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPE, _STRIPES = 64, 16  # bytes, stripes in a block


def xxh3_64(data: bytes) -> int:
    size = len(data)
    if size <= 16:
        return _short(data, size)
    if size <= 128:
        return _avalanche(_ends(data, size))
    if size <= 240:
        return _avalanche(_middle(data, size))
    return _long(data, size)


def topic_hash(name: str, topic_id: bytes, racks: tuple[tuple[str, ...], ...]) -> int:
    """The hash of a topic; `racks` are those of each partition's replicas."""
    high, low = unpack_from(">QQ", topic_id)
    data = b"\0" + pack("<QQ", high, low) + _text(name) + pack("<i", len(racks))
    for index, names in enumerate(racks):
        data += pack("<i", index)
        for rack in sorted(names):
            data += pack("<i", len(rack)) + _text(rack)
    return xxh3_64(data)


def group_hash(topics: dict[str, int]) -> int:
    """The hash of the hashes of a group's topics, as a signed int64; 0 without any."""
    if not topics:
        return 0
    hashed = xxh3_64(b"".join(pack("<Q", topics[name]) for name in sorted(topics)))
    return hashed - (1 << 64) if hashed >> 63 else hashed


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + pack("<i", len(units) // 2)


def _at(data: bytes, offset: int) -> int:
    return unpack_from("<Q", data, offset)[0]


def _secret(offset: int) -> int:
    return unpack_from("<Q", _SECRET, offset)[0]


def _fold(left: int, right: int) -> int:
    product = left * right
    return (product & _M64) ^ product >> 64


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * _MX1 & _M64
    return h ^ h >> 32


def _old_avalanche(h: int) -> int:
    h ^= h >> 33
    h = h * _P64[1] & _M64
    h ^= h >> 29
    h = h * _P64[2] & _M64
    return h ^ h >> 32


def _turned(h: int, by: int) -> int:
    return (h << by | h >> 64 - by) & _M64


def _short(data: bytes, size: int) -> int:
    if size > 8:
        low = _at(data, 0) ^ _secret(24) ^ _secret(32)
        high = _at(data, size - 8) ^ _secret(40) ^ _secret(48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(size + swapped + high + _fold(low, high) & _M64)
    if size >= 4:
        first, last = (unpack_from("<I", data, at)[0] for at in (0, size - 4))
        h = last + (first << 32) ^ _secret(8) ^ _secret(16)
        h ^= _turned(h, 49) ^ _turned(h, 24)
        h = h * _MX2 & _M64
        h ^= (h >> 35) + size
        h = h * _MX2 & _M64
        return h ^ h >> 28
    if size:
        mixed = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        first, second = unpack_from("<II", _SECRET)
        return _old_avalanche(mixed ^ first ^ second)
    return _old_avalanche(_secret(56) ^ _secret(64))


def _mix(data: bytes, at: int, secret: int) -> int:
    return _fold(_at(data, at) ^ _secret(secret), _at(data, at + 8) ^ _secret(secret + 8))


def _ends(data: bytes, size: int) -> int:
    """Hash from both ends inwards."""
    total = size * _P64[0]
    for step in range((size - 1) // 32 + 1):
        total += _mix(data, 16 * step, 32 * step)
        total += _mix(data, size - 16 * (step + 1), 32 * step + 16)
    return total & _M64


def _middle(data: bytes, size: int) -> int:
    total = size * _P64[0]
    for step in range(8):
        total += _mix(data, 16 * step, 16 * step)
    total = _avalanche(total & _M64)
    for step in range(8, size // 16):
        total += _mix(data, 16 * step, 16 * (step - 8) + 3)
    return total + _mix(data, size - 16, 136 - 17) & _M64


def _long(data: bytes, size: int) -> int:
    lanes = [_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]]
    stripes = (size - 1) // _STRIPE
    for stripe in range(stripes):
        place = stripe % _STRIPES
        _accumulate(lanes, data, stripe * _STRIPE, 8 * place)
        if place == _STRIPES - 1:
            for i in range(8):
                lane = lanes[i] ^ lanes[i] >> 47 ^ _secret(len(_SECRET) - _STRIPE + 8 * i)
                lanes[i] = lane * _P32[0] & _M64
    _accumulate(lanes, data, size - _STRIPE, len(_SECRET) - _STRIPE - 7)
    total = size * _P64[0]
    for i in range(4):
        left, right = (lanes[2 * i + j] ^ _secret(11 + 16 * i + 8 * j) for j in (0, 1))
        total += _fold(left, right)
    return _avalanche(total & _M64)


def _accumulate(lanes: list[int], data: bytes, at: int, secret: int) -> None:
    for i in range(8):
        value = _at(data, at + 8 * i)
        keyed = value ^ _secret(secret + 8 * i)
        lanes[i ^ 1] = lanes[i ^ 1] + value & _M64
        lanes[i] = lanes[i] + (keyed & _M32) * (keyed >> 32) & _M64
