"""Who a certificate's subject is: rules turn its distinguished name into a user (KIP-371).

    ssl.principal.mapping.rules=RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,DEFAULT

The first rule whose expression is the whole name decides; DEFAULT takes the name as it is. The name
is in the form of RFC 2253, the last part first, as Java's X500Principal writes it.

Sources: SslPrincipalMapper, DefaultKafkaPrincipalBuilder at 2.8.2 and 4.0; X500Principal.getName;
names as 4.3.1 tells them of certificates with each kind of part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

SETTING = "ssl.principal.mapping.rules"
DEFAULT = "DEFAULT"
_PATTERN = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER = re.compile(rf"\s*({_PATTERN})\s*(?:,\s*|$)")
_PARSER = re.compile(_PATTERN)
_REFERENCE = re.compile(r"\\(.)|\$([0-9]+)")
# Java names these; of every other type it writes the number, and the value in DER.
_SHORT = {
    "commonName": "CN", "countryName": "C", "localityName": "L", "stateOrProvinceName": "ST",
    "organizationName": "O", "organizationalUnitName": "OU", "streetAddress": "STREET",
    "domainComponent": "DC", "userId": "UID",
}  # fmt: skip
_PRINTABLE, _UTF8, _IA5 = 0x13, 0x0C, 0x16  # kinds of text, as certificates mostly have them
_NUMBERED = {
    "businessCategory": ("2.5.4.15", _UTF8),
    "description": ("2.5.4.13", _UTF8),
    "dnQualifier": ("2.5.4.46", _PRINTABLE),
    "emailAddress": ("1.2.840.113549.1.9.1", _IA5),
    "generationQualifier": ("2.5.4.44", _UTF8),
    "givenName": ("2.5.4.42", _UTF8),
    "initials": ("2.5.4.43", _UTF8),
    "name": ("2.5.4.41", _UTF8),
    "organizationIdentifier": ("2.5.4.97", _UTF8),
    "postalCode": ("2.5.4.17", _UTF8),
    "pseudonym": ("2.5.4.65", _UTF8),
    "serialNumber": ("2.5.4.5", _PRINTABLE),
    "surname": ("2.5.4.4", _UTF8),
    "title": ("2.5.4.12", _UTF8),
}
_SPECIAL = re.compile(r'([,=+"\\<>;])')
Subject = Sequence[Sequence[tuple[str, str]]]  # as `ssl` gives it: a pair for each part of an RDN


class Rule(NamedTuple):
    pattern: re.Pattern[str] | None  # None: the name as it is
    replacement: str = ""
    case: str = ""  # L, U, or as it is

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        found = self.pattern.sub(lambda match: _expanded(self.replacement, match), name)
        return found.lower() if self.case == "L" else found.upper() if self.case == "U" else found


def rules(text: str | None) -> tuple[Rule, ...]:
    """ValueError for what is no rule."""
    made = []
    for found in _SPLITTER.finditer((DEFAULT if text is None else text).strip()):
        word = found[1]
        parts = _PARSER.match(word)
        if parts is None or parts.end() != len(word) and not parts[2]:
            raise ValueError(f"Invalid rule: {word}")
        if parts[1]:
            made.append(Rule(None))
        elif parts[2] is not None:
            made.append(Rule(re.compile(parts[2]), parts[3], parts[4]))
        elif word:
            raise ValueError(f"Invalid rule: {word}")
    return tuple(made)


def user_of(subject: Subject, mapping: Iterable[Rule]) -> str:
    """ValueError where no rule applies."""
    name = distinguished_name(subject)
    for rule in mapping:
        user = rule.apply(name)
        if user is not None:
            return user
    raise ValueError(f"No rules apply to {name}")


def distinguished_name(subject: Subject) -> str:
    return ",".join("+".join(_part(*pair) for pair in rdn) for rdn in reversed(subject))


def _part(kind: str, value: str) -> str:
    if kind in _NUMBERED:
        number, tag = _NUMBERED[kind]
        raw = value.encode()
        size = (len(raw),) if len(raw) < 0x80 else (0x82, *len(raw).to_bytes(2, "big"))
        return f"{number}=#{bytes((tag, *size)).hex()}{raw.hex()}"
    text = _SPECIAL.sub(r"\\\1", value)
    if text[:1] in ("#", " "):
        text = "\\" + text
    if text.endswith(" ") and len(value) > 1:
        text = text[:-1] + "\\ "
    return f"{_SHORT.get(kind, kind)}={text}"


def _expanded(replacement: str, match: re.Match[str]) -> str:
    """With its back references; a number of more groups than there are is cut, or left as text."""
    groups = match.re.groups

    def one(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1]
        digits, rest = found[2], ""
        while int(digits) > groups and len(digits) > 1:
            digits, rest = digits[:-1], digits[-1] + rest
        return found[0] if int(digits) > groups else (match[int(digits)] or "") + rest

    return _REFERENCE.sub(one, replacement)
