"""The JAAS configuration of a mechanism: a login module, its flag, and options.

    org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";

Kafka reads it from `listener.name.LISTENER.MECHANISM.sasl.jaas.config`, and where that is not set
from a file that a property of its JVM names. There is no JVM here, so the setting is all there is,
for every release, also for those before 2.0 that had only the file.

Sources: JaasConfig, JaasContext at 2.8.2 and 4.0; java.io.StreamTokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

SETTING = "sasl.jaas.config"
_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/
    |"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'
    |(?P<word>[A-Za-z_$\u00a0-\uffff-][A-Za-z0-9._$\u00a0-\uffff-]*)
    |(?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)


class LoginModule(NamedTuple):
    name: str
    options: Mapping[str, str]


def parse(text: str) -> LoginModule:
    """The one login module of the text; ValueError in Kafka's words for everything else."""
    found = [*_modules(text)]
    if not found:
        raise ValueError("Login module not specified in JAAS config")
    if len(found) != 1:
        raise ValueError(
            f"JAAS config property contains {len(found)} login modules, should be 1 module"
        )
    return found[0]


class _Token(NamedTuple):
    text: str
    sign: bool  # a bare "=" or ";", which a quoted one is not

    def is_sign(self, text: str) -> bool:
        return self.sign and self.text == text


def _modules(text: str) -> Iterator[LoginModule]:
    tokens = _tokens(text)
    for name in tokens:
        flag = next(tokens, None)
        if flag is None:
            raise ValueError("Login module control flag not specified in JAAS config")
        if flag.text.upper() not in _FLAGS:
            raise ValueError(f"Invalid login module control flag '{flag.text}' in JAAS config")
        yield LoginModule(name.text, dict(_options(tokens)))


def _options(tokens: Iterator[_Token]) -> Iterator[tuple[str, str]]:
    for key in tokens:
        if key.is_sign(";"):
            return
        sign, value = next(tokens, None), next(tokens, None)
        if sign is None or not sign.is_sign("=") or value is None or value.sign:
            raise ValueError(f"Value not specified for key '{key.text}' in JAAS config")
        yield key.text, value.text
    raise ValueError("JAAS config entry not terminated by semi-colon")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"cannot read the JAAS config from its character {at} on")
        at = found.end()
        kind = found.lastgroup
        if kind in ("double", "single"):
            yield _Token(_ESCAPE.sub(_unescaped, found[kind]), sign=False)
        elif kind is not None:
            yield _Token(found[kind], sign=kind == "sign")


def _unescaped(found: re.Match[str]) -> str:
    one = found[1]
    return chr(int(one, 8)) if one[0] in "01234567" else _ESCAPES.get(one, one)
