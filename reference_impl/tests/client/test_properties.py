"""Properties files as Java reads them (java.util.Properties.load of Java 17, tried there)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.client.configs.properties import parse, text


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a:b\r\nc d\re", {"a": "b", "c": "d", "e": ""}),
        ("a==b", {"a": "=b"}),
        ("  # a=b\n!c=d\n#e\\\nf=g", {"f": "g"}),  # a comment goes on for nobody
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=\\\n#b", {"a": "#b"}),
        ("a\\ b\\=c=d", {"a b=c": "d"}),
        ("a=\\u00e9\\t\\q", {"a": "\u00e9\tq"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b\\", {"a": "b"}),
        ("\n\n", {}),
    ],
)
def test_lines(given, found):
    assert parse(given) == found


def test_what_is_written_is_read_back():
    given = {"a b=c": "d", "e": "  f\\g\n\u00e9 # h ", "#i": "", "j": 'user="k";'}
    assert parse(text(given)) == given
    assert text(given).isascii()


def test_an_escape_without_digits_is_refused():
    with pytest.raises(ValueError, match="Malformed"):
        parse("a=\\u12")
