"""The regular expressions that groups subscribe with: RE2's syntax, the whole topic name.

RE2 knows no look-around and no back references, so every expression is matched in a time linear in
the name; what it refuses, it refuses with words of its own. This file reads that syntax, refuses
what re2j refuses, in its words, and leaves matching to RE2 itself. Python's `re` gives the same
answers and is no choice: `(a+)+b` takes it a time exponential in the name, and anybody subscribes.

Sources: RE2 syntax (github.com/google/re2/wiki/Syntax); re2j 1.8, the words of its Parser;
KIP-848; observed on 4.3.1.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache

from touchstone.reference_impl import linear
from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode as E

LOG = logging.getLogger("touchstone.groups")

_LONGEST_REPEAT = 1000
_POSIX = {
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
}  # fmt: skip
_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CATEGORIES = {  # the letter of a kind, and those of its parts
    "C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps",
}  # fmt: skip
_SCRIPTS = {  # those of Unicode 6.0, which re2j 1.8 has; RE2 knows newer ones
    "Any", "Arabic", "Armenian", "Avestan", "Balinese", "Bamum", "Batak", "Bengali",
    "Bopomofo", "Brahmi", "Braille", "Buginese", "Buhid", "Canadian_Aboriginal", "Carian",
    "Cham", "Cherokee", "Common", "Coptic", "Cuneiform", "Cypriot", "Cyrillic", "Deseret",
    "Devanagari", "Egyptian_Hieroglyphs", "Ethiopic", "Georgian", "Glagolitic", "Gothic",
    "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hanunoo", "Hebrew", "Hiragana",
    "Imperial_Aramaic", "Inherited", "Inscriptional_Pahlavi", "Inscriptional_Parthian",
    "Javanese", "Kaithi", "Kannada", "Katakana", "Kayah_Li", "Kharoshthi", "Khmer", "Lao",
    "Latin", "Lepcha", "Limbu", "Linear_B", "Lisu", "Lycian", "Lydian", "Malayalam",
    "Mandaic", "Meetei_Mayek", "Mongolian", "Myanmar", "New_Tai_Lue", "Nko", "Ogham",
    "Ol_Chiki", "Old_Italic", "Old_Persian", "Old_South_Arabian", "Old_Turkic", "Oriya",
    "Osmanya", "Phags_Pa", "Phoenician", "Rejang", "Runic", "Samaritan", "Saurashtra",
    "Shavian", "Sinhala", "Sundanese", "Syloti_Nagri", "Syriac", "Tagalog", "Tagbanwa",
    "Tai_Le", "Tai_Tham", "Tai_Viet", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan",
    "Tifinagh", "Ugaritic", "Unknown", "Vai", "Yi",
}  # fmt: skip
_NAME = re.compile(r"[0-9A-Za-z_]+")


class _Wrong(Exception):
    pass


def check(text: str) -> None:
    """Raises ApiError for what RE2 does not take."""
    try:
        _Reader(text).whole()
    except _Wrong as wrong:
        words = f"SubscribedTopicRegex `{text}` is not a valid regular expression: {wrong}."
        raise ApiError(E.INVALID_REGULAR_EXPRESSION, words) from None


@lru_cache(maxsize=256)
def matcher(text: str) -> Callable[[str], bool]:
    """Whether a whole name matches an expression that `check` took. Bytes in it that are no UTF-8
    count as U+FFFD, as Java decodes them; no topic's name has that.
    """
    try:
        return linear.matcher(text)
    except ValueError as refused:
        # RE2 takes no counts whose product is over 1,000, re2j does: (x{1000}){1000}. A name has at
        # most 249 characters; the little that such an expression could match is not worth a matcher
        # without bounds.
        LOG.warning("no topic matches `%s`, which RE2 does not take: %s", text, refused)
        return lambda name: False


class _Reader:
    """Reads the expression once; each method reads one thing, or raises _Wrong."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.names: set[str] = set()

    def whole(self) -> None:
        self._branches()
        if self.at < len(self.text):
            raise _Wrong("regexp/syntax: internal error")  # an odd ) in re2j's words

    def _rest(self, starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def _branches(self) -> None:
        while self.at < len(self.text) and not self._rest(")"):
            if self._rest("|"):
                self.at += 1
            else:
                self._repeated()

    def _repeated(self) -> None:
        if self.text[self.at] in "*+?" or self._count() is not None:
            raise _Wrong("missing argument to repetition operator")
        self._atom()
        again = False
        while self.at < len(self.text) and self._operator():
            if again:
                raise _Wrong("invalid nested repetition operator")
            again = True

    def _operator(self) -> bool:
        if self.text[self.at] in "*+?":
            self.at += 1
        else:
            end = self._count()
            if end is None:
                return False
            self.at = end
        if self._rest("?"):
            self.at += 1
        return True

    def _count(self) -> int | None:
        """Where {n}, {n,} or {n,m} ends; None: anything else is a brace like others."""
        found = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII).match(self.text, self.at)
        if found is None:
            return None
        low = int(found[1])
        high = low if found[2] is None else int(found[3]) if found[3] else low
        if low > _LONGEST_REPEAT or high > _LONGEST_REPEAT or high < low:
            raise _Wrong("invalid repeat count")
        return found.end()

    def _atom(self) -> None:
        c = self.text[self.at]
        if c == "(":
            self._group()
        elif c == "[":
            self._class()
        elif c == "\\":
            self._escape()
        else:
            self.at += 1

    def _group(self) -> None:
        """A group, or `(?flags)`, which counts up to the end of the group around it."""
        self.at += 1
        if self._rest("?") and not self._flags():
            return
        self._branches()
        if not self._rest(")"):
            raise _Wrong("missing closing )")
        self.at += 1

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
        return flags[3] == ":"

    def _escape(self) -> None:
        self.at += 1
        if self.at >= len(self.text):
            raise _Wrong("trailing backslash at end of expression")
        c = self.text[self.at]
        self.at += 1
        if c == "Q":
            end = self.text.find("\\E", self.at)
            self.at = len(self.text) if end < 0 else end + 2
        elif c.lower() == "p":
            self._unicode()
        elif c not in "AzbB" and c.lower() not in "dsw":
            self._character(c)

    def _unicode(self) -> None:
        """A category or a script."""
        named = re.compile(r"\{\^?(\w*)\}|(\w)").match(self.text, self.at)
        name = (named[1] or named[2] or "") if named is not None else ""
        part = name[1:] == "" or (len(name) == 2 and name[1] in _CATEGORIES.get(name[0], ""))
        if named is None or not (name in _SCRIPTS or (name[:1] in _CATEGORIES and part)):
            raise _Wrong("invalid character class range")
        self.at = named.end()

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

    def _class(self) -> None:
        self.at += 1
        if self._rest("^"):
            self.at += 1
        first = True
        while first or not self._rest("]"):
            self._element()
            first = False
        self.at += 1

    def _element(self) -> None:
        """A character, a range or a named class between brackets."""
        posix = re.compile(r"\[:\^?(\w+):\]").match(self.text, self.at)
        if posix is not None:
            if posix[1] not in _POSIX:
                raise _Wrong("invalid character class range")
            self.at = posix.end()
            return
        known = self.text[self.at + 1 : self.at + 2].lower()
        if self._rest("\\") and known and known in "dswp":
            self.at += 2
            if known == "p":
                self._unicode()
            return
        low = self._bound()
        if not self._rest("-") or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return
        self.at += 1
        if self._bound() < low:
            raise _Wrong("invalid character class range")

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
