"""RE2's expressions: what is taken, what is refused with which words, and which names fit.

Every line was tried on re2j 1.8, the library of 4.3.1.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group import regexes

NAMES = [
    "a", "ab", "aab", "aaa", "foo", "FOO1", "b-foo", "xy", "Xz", "Z", "z", "xY", "abc", "a.b",
    "aXb", "12", "A", "AB", "-", "]", "x", "ax", "Ax", "aBc", "abC", "", "a||b", "cx", "Cx", ".",
    "aa", "AA", "[", "b]",
]  # fmt: skip
FITS = {
    "[ab]-foo": ["b-foo"],
    "a.*": ["a", "ab", "aab", "aaa", "abc", "a.b", "aXb", "ax", "aBc", "abC", "a||b", "aa"],
    "(a|b)+": ["a", "ab", "aab", "aaa", "aa"],
    "(?i)FOO.*": ["foo", "FOO1"],
    "x(?i)y|z": ["xy", "Z", "z", "xY"],
    "(?i:a)b": ["ab"],
    "a{2,3}": ["aaa", "aa"],
    "a{2": [],
    "[[:alpha:]]+": [name for name in NAMES if name.isalpha()],
    "\\d+": ["12"],
    "\\Qa.b\\E": ["a.b"],
    "(?P<n>a)b": ["ab"],
    "(?<n>a)": ["a"],
    "\\pL": ["a", "Z", "z", "A", "x"],
    "x*?": ["x", ""],
    "a{,2}": [],
    "[]a]": ["a", "]"],
    "[^]a]": ["Z", "z", "A", "-", "x", ".", "["],
    "[a-]": ["a", "-"],
    "[a-b-c]": ["a", "-"],
    "\\x41": ["A"],
    "\\x{41}": ["A"],
    "\\07": [],
    "\\pN+": ["12"],
    "\\p{Lu}": ["Z", "A"],
    "\\P{Greek}": ["a", "Z", "z", "A", "-", "]", "x", ".", "["],
    "\\P{Devanagari}x": ["ax", "Ax", "cx", "Cx"],
    "(?:)": [""],
    "()": [""],
    "": [""],
    "a||b": ["a", ""],
    "^a$": ["a"],
    "\\bfoo\\b": ["foo"],
    "(?i)[a-c]x": ["ax", "Ax", "cx", "Cx"],
    "[[:^alpha:]]+": ["12", "-", "]", ".", "["],
    "[\\d-z]": ["z", "-"],
    "[\\w.-]+": [
        "a",
        "ab",
        "aab",
        "aaa",
        "foo",
        "FOO1",
        "b-foo",
        "xy",
        "Xz",
        "Z",
        "z",
        "xY",
        "abc",
        "a.b",
        "aXb",
        "12",
        "A",
        "AB",
        "-",
        "x",
        "ax",
        "Ax",
        "aBc",
        "abC",
        "cx",
        "Cx",
        ".",
        "aa",
        "AA",
    ],
    "(?s).+": [name for name in NAMES if name],
    "(?-i)a": ["a"],
    "(?i-s:a)": ["a", "A"],
    "a+?b": ["ab", "aab"],
    "\\Ba": [],
    "\\zb": [],
    "(((a)))": ["a"],
    "a(?i)b(?-i)c": ["abc", "aBc"],
    "[a\\]b]": ["a", "]"],
    "\\.": ["."],
    "\\-": ["-"],
    "[\\-a]": ["a", "-"],
    "[+--]": ["-"],
    "(?i)a{2}": ["aa", "AA"],
    "a{0}": [""],
    "x{1,1000}": ["x"],
    "(x{1000}){1000}": [],
    "\\Q[": ["["],
    "\\a": [],
    "(?U)a*": ["a", "aaa", "", "aa"],
}
REFUSED = {
    "[": "missing closing ]",
    " (": "missing closing )",
    "(?=a)": "invalid or unsupported Perl syntax",
    "a**": "invalid nested repetition operator",
    "*a": "missing argument to repetition operator",
    "\\1": "invalid escape sequence",
    "\\p{Adlam}": "invalid character class range",
    "[z-a]": "invalid character class range",
    "\\": "trailing backslash at end of expression",
    "a{1001}": "invalid repeat count",
    "(?P=n)": "invalid or unsupported Perl syntax",
    "a)": "regexp/syntax: internal error",
    "(?i": "invalid or unsupported Perl syntax",
    "x*+": "invalid nested repetition operator",
    "(?": "invalid or unsupported Perl syntax",
    "a|*": "missing argument to repetition operator",
    "a{2}{3}": "invalid nested repetition operator",
    "{2}": "missing argument to repetition operator",
    "[a": "missing closing ]",
    "[]": "missing closing ]",
    "\\x{": "invalid escape sequence",
    "\\8": "invalid escape sequence",
    "\\7": "invalid escape sequence",
    "\\e": "invalid escape sequence",
    "\\C": "invalid escape sequence",
    "(?P<n>a)(?P<n>b)": "duplicate capture group name",
    "(?P<>a)": "invalid named capture",
    "[[:foo:]]": "invalid character class range",
    "(?z)a": "invalid or unsupported Perl syntax",
    "a{3,2}": "invalid repeat count",
    "a\\": "trailing backslash at end of expression",
    "(a": "missing closing )",
    "a\\Eb": "invalid escape sequence",
    "[a-\\d]": "invalid escape sequence",
}


@pytest.mark.parametrize("text", FITS)
def test_whole_names_fit(text):
    regexes.check(text)
    matches = regexes.matcher(text)
    assert [name for name in NAMES if matches(name)] == FITS[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_re2_does_not_take_is_refused_in_its_words(text):
    with pytest.raises(ApiError) as caught:
        regexes.check(text)
    words = f"SubscribedTopicRegex `{text}` is not a valid regular expression: {REFUSED[text]}."
    assert caught.value.message == words


@pytest.mark.parametrize(
    "text", ["(a+)+b", "(a*)*c", "(a|a)*b", "(a|aa)+$b", "(.*.*)*x", "((a*){100})b"]
)
def test_an_expression_takes_a_time_linear_in_the_name(text):
    """Python's `re` would not come back from these while the test runs."""
    regexes.check(text)
    assert not regexes.matcher(text)("a" * 249)


def test_an_expression_too_large_for_re2_matches_no_topic(caplog):
    assert not regexes.matcher("(y{1000}){1000}")("y")
    assert "no topic matches `(y{1000}){1000}`" in caplog.text


@pytest.mark.parametrize("text", ["\udcff\udcfe", "a\udcff", "a|\udcff"])
def test_bytes_that_are_no_text_match_no_name(text):
    regexes.check(text)
    assert regexes.matcher(text)("a") == (text[:2] == "a|")
