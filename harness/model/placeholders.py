"""Values a scenario cannot know when it is written: names, earlier answers, the time, record bytes.

A scenario is data that runs unchanged on every target, so whatever differs from run to run stands
in it as a placeholder. Three rules keep runs comparable: a `Name` has the same length in every run
(so frames have equal sizes on both targets); everything is derived from the run's nonce, the clock
of the run and earlier answers, never drawn; and a placeholder that cannot be resolved raises
`Unresolved`, which the driver turns into an event, because the target failed to give the value.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from touchstone.harness.model import path as paths
from touchstone.harness.model import sasl_messages
from touchstone.reference_impl.wire import headers, records
from touchstone.reference_impl.wire.apis import by_name

TOKEN = 10  # characters that make a name unique: 50 bits, enough for any number of nights
DRAWS = 2000  # names that are tried for a partition of an internal topic, of which there are 50
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


class Unresolved(LookupError):
    """A placeholder has no value in this run; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Name:
    """A topic, group or transactional id that no other case and no other run uses.

    `length` pads (or refuses to cut below what uniqueness needs); `prefix` is text in front,
    `binary` gives the UTF-8 bytes where a message wants bytes. Two names with one `token` differ
    only in their keys: "a.b" and "a_b" of the same token collide as topics.
    """

    key: str
    length: int | None = None
    prefix: str = ""
    binary: bool = False
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of an earlier step's decoded answer, plus a number where one is added."""

    step: str
    path: str
    plus: int = 0


@dataclass(frozen=True, slots=True)
class TopicId:
    """A topic's id, as Metadata tells the driver when the step is sent (and then kept)."""

    topic: Any


@dataclass(frozen=True, slots=True)
class Now:
    """The wall clock at the start of the run in milliseconds, moved by `plus`."""

    plus: int = 0


@dataclass(frozen=True, slots=True)
class Records:
    """Record bytes made at run time by `wire.records.build`, whose arguments may hold placeholders.

    `patch` overwrites bytes afterwards: ((offset, bytes), ...); nothing is recomputed.
    """

    build: Mapping[str, Any]
    patch: tuple[tuple[int, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts put one after another; each is bytes or a placeholder that gives bytes."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole request frame (without its size) built at run time and then damaged on purpose.

    Order of damage: `patch` overwrites, `cut` keeps only that many bytes (negative: drops from the
    end), `append` adds.
    """

    api: str
    version: int
    body: Any
    correlation_id: int = 7
    client_id: str | None = "touchstone"
    patch: tuple[tuple[int, bytes], ...] = ()
    cut: int | None = None
    append: bytes = b""


@dataclass(frozen=True, slots=True)
class Leader:
    """The broker that leads a partition, as Metadata says when a connection is opened."""

    topic: Any
    partition: int = 0


@dataclass(frozen=True, slots=True)
class Controller:
    """The broker that Metadata calls the controller, or the first that it does not call so."""

    other: bool = False


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The broker that FindCoordinator names for a group (0) or transactional id (1)."""

    key: Any
    key_type: int = 0


@dataclass(frozen=True, slots=True)
class Scram:
    """A message of a SCRAM exchange: a client's `first` or `final`, or what a server that knows the
    password says last, `proven` (harness/model/sasl_messages.py).

    `server` is the server's first message; `password` are bytes where it is a token's hmac, which
    goes in base64. `nonce` goes in the place of the server's.
    """

    part: str
    mechanism: str
    user: Any
    password: Any = ""
    server: Any = None
    extensions: str = ""
    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class Bearer:
    """A client's message of OAUTHBEARER with a token of these claims (KIP-255, KIP-768).

    `expires_in_s` gives it the claim `exp`, so many seconds after the start of the run. It is
    unsecured, or `signed` as harness/model/signing_key.py has it: RS256, or HS256.
    """

    claims: Mapping[str, Any]
    expires_in_s: int | None = None
    header: Mapping[str, Any] = field(default_factory=lambda: {"alg": "none"})
    signature: str = ""
    signed: str = ""


PLACEHOLDERS = (
    Name, Ref, TopicId, Now, Records, Joined, Frame, Leader, Controller, Coordinator, Scram, Bearer,
)  # fmt: skip


def unique(nonce: str, name: Name, draw: int = 0, prefix: str = "") -> str:
    """Return the name's text in the run of this nonce, another for each `draw`.

    It begins with `prefix` in a run that may only touch what does; a principal's has it behind its
    kind ("User:"). A name of a given length keeps that length as long as TOKEN characters of its
    own are left.
    """
    seed = f"{nonce}/{name.token or name.key}{f'/{draw}' if draw else ''}".encode()
    digest = int.from_bytes(hashlib.sha256(seed).digest()[:8], "big")
    token = "".join(ALPHABET[digest >> 5 * i & 31] for i in range(TOKEN))
    text = f"{name.prefix}{name.key}-{token}"
    if name.length is None:
        kind, colon, rest = text.rpartition(":")
        return f"{kind}{colon}{prefix}{rest}"
    if name.length < TOKEN:
        raise ValueError(f"{name}: {name.length} characters cannot be unique, {TOKEN} can")
    length = max(name.length - len(prefix), TOKEN)
    return prefix + (text[-length:] if len(text) > length else text.ljust(length, "x"))


@dataclass(slots=True)
class Bindings:
    """What the placeholders of one run stand for; filled by the driver as answers arrive."""

    nonce: str
    clock_ms: int
    names: dict[str, str] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    answer: Callable[[str], Any] = lambda step: None
    topic_id: Callable[[str], bytes] = lambda topic: b""
    sent: Callable[[str, int, Any], Any] = lambda api, version, body: body  # in the target's words
    accepted: Callable[[str], bool] | None = None  # whether a name may be used on this target
    prefix: str = ""  # with which each name begins

    def resolve(self, value: Any) -> Any:
        """The value with every placeholder in it replaced. Raises Unresolved."""
        rule = _RULES.get(type(value))
        if rule is not None:
            return rule(self, value)
        if isinstance(value, Mapping):
            return {key: self.resolve(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            kept = [self.resolve(inner) for inner in value]
            return kept if isinstance(value, list) else tuple(kept)
        return value

    def _name(self, name: Name) -> str | bytes:
        text = self._drawn(name)
        if self.names.setdefault(name.key, text) != text:
            raise ValueError(f"{name.key} is already the name {self.names[name.key]}, not {text}")
        return text.encode() if name.binary else text

    def _drawn(self, name: Name) -> str:
        """The first draw that the target's coordinator accepts; names that share a token, or are
        too short to differ, are drawn once.
        """
        text = unique(self.nonce, name, 0, self.prefix)
        if self.accepted is None or name.token is not None:
            return text
        draws = (unique(self.nonce, name, draw, self.prefix) for draw in range(DRAWS))
        return next((drawn for drawn in draws if self.accepted(drawn)), text)

    def _ref(self, ref: Ref) -> Any:
        body = self.answer(ref.step)
        if body is None:
            raise Unresolved(f"{ref.step} has no answer to take {ref.path} from")
        try:
            found = paths.get(body, ref.path)
        except paths.PathError as error:
            raise Unresolved(f"{ref.step}: {error}") from error
        return found + ref.plus if ref.plus else found

    def _topic_id(self, wanted: TopicId) -> bytes:
        return self.topic_id(self.resolve(wanted.topic))

    def _now(self, now: Now) -> int:
        symbol = f"$now{now.plus:+d}" if now.plus else "$now"
        return self.times.setdefault(symbol, self.clock_ms + now.plus)

    def _records(self, wanted: Records) -> bytes:
        return patched(records.build(**self.resolve(dict(wanted.build))), wanted.patch)

    def _joined(self, joined: Joined) -> bytes:
        return b"".join(self.resolve(part) for part in joined.parts)

    def _scram(self, message: Scram) -> bytes:
        given = {one.name: self.resolve(getattr(message, one.name)) for one in fields(message)}
        return sasl_messages.scram(**given)

    def _bearer(self, message: Bearer) -> bytes:
        claims = dict(self.resolve(message.claims))
        if message.expires_in_s is not None:
            claims["exp"] = self.clock_ms // 1000 + message.expires_in_s
        return sasl_messages.bearer(claims, message.header, message.signature, message.signed)

    def _frame(self, frame: Frame) -> bytes:
        data = headers.encode_request(
            by_name(frame.api).key,
            frame.version,
            frame.correlation_id,
            frame.client_id,
            self.sent(frame.api, frame.version, self.resolve(frame.body)),
        )
        data = patched(data, frame.patch)
        return data[: frame.cut] + frame.append


def patched(data: bytes, patch: tuple[tuple[int, bytes], ...]) -> bytes:
    """The bytes with some overwritten; a patch may not change the length."""
    out = bytearray(data)
    for offset, piece in patch:
        if not 0 <= offset <= len(out) - len(piece):
            raise ValueError(f"patch of {len(piece)} bytes at {offset} leaves {len(out)} bytes")
        out[offset : offset + len(piece)] = piece
    return bytes(out)


_RULES: dict[type, Callable[[Bindings, Any], Any]] = {
    Name: Bindings._name,
    Ref: Bindings._ref,
    TopicId: Bindings._topic_id,
    Now: Bindings._now,
    Records: Bindings._records,
    Joined: Bindings._joined,
    Frame: Bindings._frame,
    Scram: Bindings._scram,
    Bearer: Bindings._bearer,
}


_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


@functools.cache
def _defaults(kind: type) -> tuple[tuple[str, Any], ...]:
    return tuple((each.name, each.default) for each in fields(kind))


def to_json(value: Any, types: Mapping[str, type]) -> Any:
    """A scenario value as JSON. A dataclass becomes {"$Type": {field: value}} without defaults."""
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if is_dataclass(kind):
        if types.get(kind.__name__) is not kind:
            raise TypeError(f"{kind.__name__} is not part of a scenario")
        given = ((name, getattr(value, name), default) for name, default in _defaults(kind))
        kept = {name: to_json(inner, types) for name, inner, default in given if inner != default}
        return {f"${kind.__name__}": kept}
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": bytes(value).hex()}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: to_json(inner, types) for key, inner in value.items()}
        return {"$map": [[to_json(k, types), to_json(v, types)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"$tuple": [to_json(inner, types) for inner in value]}
    if isinstance(value, list):
        return [to_json(inner, types) for inner in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a scenario cannot hold {type(value).__name__}: {value!r}")


def from_json(value: Any, types: Mapping[str, type]) -> Any:
    """The inverse of `to_json`."""
    if isinstance(value, list):
        return [from_json(inner, types) for inner in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag == "$bytes":
            return bytes.fromhex(inner)
        if tag == "$tuple":
            return tuple(from_json(v, types) for v in inner)
        if tag == "$map":
            return {from_json(k, types): from_json(v, types) for k, v in inner}
        if tag.startswith("$"):
            return types[tag[1:]](**{k: from_json(v, types) for k, v in inner.items()})
    return {key: from_json(inner, types) for key, inner in value.items()}
