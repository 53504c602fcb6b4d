"""The regular expressions that groups subscribe with: RE2's syntax, the whole topic name.

RE2 knows no look-around and no back references, so every expression is matched in a time linear in
the name; what it refuses, it refuses with words of its own. This file reads that syntax, refuses
what RE2 refuses, and writes what is left for Python's `re`, whose answer to "does the whole name
match" is the same for every expression RE2 takes. Names of topics are ASCII.

Sources: RE2 syntax (github.com/google/re2/wiki/Syntax); re2j 1.8, the words of its Parser (facts);
KIP-848; observed on 4.3.1.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode as E

_LONGEST_REPEAT = 1000
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z",
    "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\t\\n\\v\\f\\r ", "upper": "A-Z",
    "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_PERL = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}
_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CATEGORIES = {  # the letter of a kind, and those of its parts
    "C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps",
}  # fmt: skip
_SCRIPTS = {"Any", "Arabic", "Common", "Cyrillic", "Greek", "Han", "Hebrew", "Latin", "Thai"}
_NOTHING = "\\U0010ffff"  # no name has it
_NAME = re.compile(r"[0-9A-Za-z_]+")


class _Wrong(Exception):
    pass


def check(text: str) -> None:
    """Raises ApiError for what RE2 does not take."""
    try:
        translated(text)
    except _Wrong as wrong:
        words = f"SubscribedTopicRegex `{text}` is not a valid regular expression: {wrong}."
        raise ApiError(E.INVALID_REGULAR_EXPRESSION, words) from None


@lru_cache(maxsize=256)
def compiled(text: str) -> re.Pattern[str]:
    return re.compile(translated(text))


def translated(text: str) -> str:
    return _Reader(text).whole()


class _Reader:
    """Reads the expression once; each method reads one thing and gives it in Python's words."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.folds = False  # letters of either case
        self.names: set[str] = set()

    def whole(self) -> str:
        out = self._branches()
        if self.at < len(self.text):
            raise _Wrong("regexp/syntax: internal error")  # an odd ) in re2j's words
        return out

    def _rest(self, starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def _branches(self) -> str:
        out = ""
        while self.at < len(self.text) and not self._rest(")"):
            if self._rest("|"):
                self.at += 1
                out += "|"
            else:
                out += self._repeated()
        return out

    def _repeated(self) -> str:
        if self.text[self.at] in "*+?" or self._count() is not None:
            raise _Wrong("missing argument to repetition operator")
        atom, operator, again = self._atom(), "", False
        while self.at < len(self.text):
            before = self.at
            found = self._operator()
            if not found:
                break
            if again and self.text[before] in "*+?{":
                raise _Wrong("invalid nested repetition operator")
            operator, again = found, True
        return f"(?:{atom}){operator}" if operator else atom

    def _operator(self) -> str:
        if self.text[self.at] in "*+?":
            out = self.text[self.at]
            self.at += 1
        else:
            counted = self._count()
            if counted is None:
                return ""
            out, self.at = counted
        if self._rest("?"):
            self.at += 1
            out += "?"
        return out

    def _count(self) -> tuple[str, int] | None:
        """{n}, {n,} or {n,m} and where it ends; anything else is a brace like others."""
        found = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII).match(self.text, self.at)
        if found is None:
            return None
        low = int(found[1])
        high = low if found[2] is None else int(found[3]) if found[3] else low
        if low > _LONGEST_REPEAT or high > _LONGEST_REPEAT or high < low:
            raise _Wrong("invalid repeat count")
        return found[0], found.end()

    def _atom(self) -> str:
        c = self.text[self.at]
        if c == "(":
            return self._group()
        if c in ".^$":
            self.at += 1
            return c
        if c == "[":
            out = self._class()
        elif c == "\\":
            out = self._escape()
        else:
            self.at += 1
            out = re.escape(c)
        return f"(?i:{out})" if self.folds else out

    def _group(self) -> str:
        """A group, or `(?flags)`, which counts up to the end of the group around it."""
        self.at += 1
        folds = self.folds
        if self._rest("?") and not self._flags():
            return ""
        out = self._branches()
        if not self._rest(")"):
            raise _Wrong("missing closing )")
        self.at += 1
        self.folds = folds
        return f"(?:{out})"

    def _flags(self) -> bool:
        """After `(?`: a name or flags; whether a group begins here."""
        named = re.compile(r"\?P?<([^>]*)>").match(self.text, self.at)
        if named is not None:
            if not _NAME.fullmatch(named[1]):
                raise _Wrong("invalid named capture")
            if named[1] in self.names:
                raise _Wrong("duplicate capture group name")
            self.names.add(named[1])
            self.at = named.end()
            return True
        flags = re.compile(r"\?([imsU]*)(-[imsU]+)?([:)])").match(self.text, self.at)
        if flags is None or not (flags[1] or flags[2] or flags[3] == ":"):
            raise _Wrong("invalid or unsupported Perl syntax")
        self.at = flags.end()
        self.folds = "i" not in (flags[2] or "") and (self.folds or "i" in flags[1])
        return flags[3] == ":"

    def _escape(self) -> str:
        self.at += 1
        if self.at >= len(self.text):
            raise _Wrong("trailing backslash at end of expression")
        c = self.text[self.at]
        self.at += 1
        if c in "AzbB":
            return {"A": "^", "z": "\\Z", "b": "\\b", "B": "\\B"}[c]
        if c == "Q":
            end = self.text.find("\\E", self.at)
            quoted = self.text[self.at :] if end < 0 else self.text[self.at : end]
            self.at = len(self.text) if end < 0 else end + 2
            return re.escape(quoted)
        if c.lower() in "dswp":
            return f"[{self._perl(c)}]"
        return re.escape(chr(self._character(c)))

    def _perl(self, c: str) -> str:
        """The inside of a class for \\d, \\s, \\w and \\p, whose capitals are the complements."""
        inside = self._unicode() if c.lower() == "p" else _PERL[c.lower()]
        return _none_of(inside) if c.isupper() else inside

    def _unicode(self) -> str:
        """A category or a script, as far as it reaches into ASCII."""
        named = re.compile(r"\{(\^?)(\w*)\}|(\w)").match(self.text, self.at)
        if named is None:
            raise _Wrong("invalid character class range")
        self.at = named.end()
        name = named[2] or named[3] or ""
        part = name[1:] == "" or (len(name) == 2 and name[1] in _CATEGORIES.get(name[0], ""))
        if name not in _SCRIPTS and not (name[:1] in _CATEGORIES and part):
            raise _Wrong("invalid character class range")
        latin = [p for p in range(128) if chr(p).isalpha()]
        inside = {
            "Any": list(range(128)),
            "Latin": latin,
            "Common": [p for p in range(128) if p not in latin],
        }.get(name, [p for p in range(128) if category(chr(p)).startswith(name)])
        text = "".join(_in_class(point) for point in inside) or _NOTHING
        return _none_of(text) if named[1] else text

    def _character(self, c: str) -> int:
        """What one escaped character stands for; the position is behind `c`."""
        if c in _ESCAPES:
            return _ESCAPES[c]
        if c in "01234567":
            octal = re.compile(r"[0-7]{1,3}").match(self.text, self.at - 1)
            if c != "0" and (octal is None or len(octal[0]) < 2):
                raise _Wrong("invalid escape sequence")
            self.at = octal.end() if octal else self.at
            return int(octal[0], 8) if octal else 0
        if c == "x":
            digits = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.text, self.at)
            if digits is None or int(digits[1] or digits[2], 16) > 0x10FFFF:
                raise _Wrong("invalid escape sequence")
            self.at = digits.end()
            return int(digits[1] or digits[2], 16)
        if c.isascii() and c.isalnum():
            raise _Wrong("invalid escape sequence")
        return ord(c)

    def _class(self) -> str:
        start = self.at
        self.at += 1
        out = "["
        if self._rest("^"):
            self.at += 1
            out += "^"
        first = True
        while first or not self._rest("]"):
            if self.at >= len(self.text):
                self.at = start
                raise _Wrong("missing closing ]")
            out += self._element()
            first = False
        self.at += 1
        return out + "]"

    def _element(self) -> str:
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self.text, self.at)
        if posix is not None:
            if posix[2] not in _POSIX:
                raise _Wrong("invalid character class range")
            self.at = posix.end()
            return _none_of(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]]
        known = self.text[self.at + 1 : self.at + 2].lower()
        if self._rest("\\") and known and known in "dswp":
            self.at += 2
            return self._perl(self.text[self.at - 1])
        low = self._bound()
        if not self._rest("-") or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return _in_class(low)
        self.at += 1
        high = self._bound()
        if high < low:
            raise _Wrong("invalid character class range")
        return f"{_in_class(low)}-{_in_class(high)}"

    def _bound(self) -> int:
        if self.at >= len(self.text):
            raise _Wrong("missing closing ]")
        c = self.text[self.at]
        self.at += 1
        if c != "\\":
            return ord(c)
        if self.at >= len(self.text):
            raise _Wrong("trailing backslash at end of expression")
        c = self.text[self.at]
        self.at += 1
        return self._character(c)


def _in_class(point: int) -> str:
    return f"\\U{point:08x}"


def _none_of(members: str) -> str:
    """The complement of a class within ASCII, which is what names are made of."""
    inside = re.compile(f"[{members}]")
    return "".join(_in_class(point) for point in range(128) if not inside.match(chr(point)))
