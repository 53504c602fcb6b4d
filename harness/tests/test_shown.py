"""What a target says is shown, and does nothing: no cursor moves, no heading, no link appears."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from touchstone.harness import checkers, shown
from touchstone.harness.cli import diff
from touchstone.harness.judgement import bundle, card
from touchstone.harness.judgement.compare import compare
from touchstone.harness.judgement.verdict import judge
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.results import badge, junit, page, rows, side_by_side, summary
from touchstone.harness.results.summary import Report
from touchstone.harness.targets.hostile import TEXT
from touchstone.harness.tests.results.runs import failing, head
from touchstone.reference_impl.wire import headers, schema
from touchstone.reference_impl.wire.apis import API

MARKUP = "\n\n# owned\n![](http://192.0.2.1/p)<img src=x>[a](http://192.0.2.1)"  # is shown whole
GFM = MarkdownIt("gfm-like", {"linkify": False})


def test_nothing_is_left_that_moves_a_cursor():
    found = shown.line(TEXT)
    assert found.isprintable() and r"\x1b[2J" in found and r"\u202e" in found
    assert shown.line(found) == found
    assert shown.line("Größe 5 µs, ‘ok’ → 日本") == "Größe 5 µs, ‘ok’ → 日本"


def test_the_lines_of_a_text_are_marked_as_its_own():
    assert shown.block("it said\n::error::x\na\x1b") == "it said\n  | :\\:error::x\n  | a\\x1b"
    assert shown.block(shown.block("a\nb\nc")) == shown.block("a\nb\nc")


@pytest.mark.parametrize("text", ["::error file=a::b", "  ::set-output name=a::b", "x ##[error]y"])
def test_nothing_is_a_command_of_a_ci_server(text):
    assert not re.search(r"^\s*::|##\[", shown.line(text))


@pytest.mark.parametrize(
    "text",
    ["# a", "1. a", "- a", "+ a", "> a", "=", "--- a", "![a](b)", "[a](http://b)", "<img src=a>",
     "a | b", "**a**", "_a_", "`a`", "~~a~~", "a\n\n# b", "&lt;", "https://a.b", "    a", TEXT],
)  # fmt: skip
def test_markdown_shows_a_text_as_it_is(text):
    """As it is on a terminal: what Markdown makes of it is one paragraph of plain text."""
    for before in ("", "- ", "text: "):
        made = re.sub("<!-- -->", "", GFM.render(before + shown.markdown(text)))
        inside = re.sub(r"^<(ul>\n<li|p)>(.*)</(li|p)>(\n</ul>)?\n$", r"\2", made, flags=re.S)
        assert "<" not in inside, made
        told = before.removeprefix("- ") + " ".join(shown.line(text).split())
        assert html.unescape(inside) == told


@pytest.mark.parametrize("text", ["see www.a.b", "http://a.b", "@somebody", "a@b.cd", "fixes #12"])
def test_nobody_is_mentioned_or_linked(text):
    assert "<!-- -->" in shown.markdown(text)


def test_code_ends_where_it_ends():
    for text in ("a", "a`b", "``", "`a``b`", TEXT):
        (token,) = GFM.parseInline(shown.code(text))[0].children
        assert (token.type, token.content) == ("code_inline", shown.line(text))
    listing = GFM.parse(shown.listing(["a", "```", "````", TEXT]))
    assert [one.type for one in listing] == ["fence"]


# every text that any answer may bring


def example(fields, version, text):
    """A message in which every array has an element, nothing is null and each text is this one."""
    made = {}
    for row in schema.fields_of(fields, version):
        if row.element == "string":
            one = text
        elif row.element == "struct":
            one = example(row.fields, version, text)
        else:
            one = schema.ZERO.get(row.element, 0)
        made[row.name] = [one] if row.is_array else one
    return made


def text_paths(message, version):
    """Where this version has texts."""
    return {path for path, row in _standing(message.fields, version) if row.element == "string"}


def _standing(fields, version, path=""):
    for row in schema.fields_of(fields, version):
        yield f"{path}.{row.name}", row
        yield from _standing(row.fields, version, f"{path}.{row.name}")


def few_versions(message):
    """Versions that together have every text that any version has; the newest first."""
    found, left = [], set()
    for version in reversed(message.all_versions()):
        if new := text_paths(message, version) - left:
            left |= new
            found.append(version)
    return found


EVERY = [(key, v) for key, api in API.items() for v in few_versions(api.response)]


def seen(key, version, text):
    body = example(API[key].response.fields, version, text)
    raw = headers.encode_response(key, version, 1, body)
    how = {"api": key, "version": version, "correlation_id": 1}
    events = (
        Event(0, "a", "opened", 0), Event(1, "a", "sent", 0, raw=b"", **how),
        Event(2, "a", "received", 0, raw=raw, **how),
    )  # fmt: skip
    return Transcript(Header("mine", "live", ("asked",), release="4.3"), events)


answers = pytest.mark.parametrize(
    ("key", "version"), EVERY, ids=[f"{API[key].name}-v{version}" for key, version in EVERY]
)


def judged(key, version, text):
    """(row, bundle, verdict) of a case in which Kafka says x and the target says this text."""
    kafkas, targets = seen(key, version, "x"), seen(key, version, text)
    verdict = judge(None, targets, kafkas, release="4.3", strict=True)
    stored = bundle.Bundle(
        "demo.a", "demo.a", "A sentence.", ("KIP-98",), "4.3",
        {"kind": verdict.kind, "reason": verdict.reason, "stack": verdict.stack},
        Scenario((Ask(API[key].name, version, {}, name="asked"),)), None, targets, kafkas,
        strict=True, again="pytest",
    )  # fmt: skip
    told = [rows.difference(one) for one in compare(kafkas, targets)]
    findings = [rows.finding(one) for one in checkers.check_all(targets)]
    row = failing("demo.a", *told, findings=findings, reason=verdict.reason, stack=verdict.stack)
    return row, stored, verdict


def test_every_text_of_every_answer_is_tried():
    for api in API.values():
        paths = {path for v in api.response.all_versions() for path in text_paths(api.response, v)}
        tried = [v for key, v in EVERY if key == api.key]
        assert paths == {path for v in tried for path in text_paths(api.response, v)}


def test_most_of_what_targets_say_is_seen():
    """What is shown has it: else there would be nothing to escape."""
    some = EVERY[::5]
    told = [compare(seen(*one, "x"), seen(*one, TEXT)) for one in some]
    assert sum(any("owned" in str(one) for one in each) for each in told) > len(some) // 2


@answers
def test_no_output_has_a_control_character(key, version):
    row, stored, verdict = judged(key, version, TEXT)
    sides = stored.oracle, stored.target
    report, told = Report(head(), [row]), badge.of([Report(head(), [row])])
    outputs = {
        "card": "\n".join(card.lines(card.of_bundle(stored))),
        "diff": "\n".join(diff.lines(*sides, compare(*sides))),
        "terminal": "\n".join(summary.lines(report)),
        "summary.md": summary.markdown([report]),
        "page": page.render([report], lambda row: card.of_bundle(stored)),
        "junit": junit.dumps([(head(), [row])]).decode(),
        "compare": side_by_side.markdown([report]),
        "compare.html": side_by_side.html([report]),
        "badge": badge.endpoint(told) + badge.svg(told),
        "verdict": shown.block(str(verdict)),
    }
    for name, text in outputs.items():
        assert text.replace("\n", "").isprintable(), name
        assert not re.search(r"^\s*::", text, re.MULTILINE), name


@answers
def test_no_output_has_markup_of_the_target(key, version):
    row, stored, _ = judged(key, version, MARKUP)
    report = Report(head(), [row])
    tokens = list(_tokens(GFM.parse(summary.markdown([report]))))
    types = [one.type for one in tokens]
    assert "image" not in types and types.count("heading_open") == 1, "ours"
    links = [one.attrs["href"] for one in tokens if one.type == "link_open"]
    assert all(link.startswith("https://cwiki.apache.org/") for link in links)
    html_of_it = "".join(one.content for one in tokens if one.type.startswith("html_"))
    tags = _Tags()
    tags.feed(html_of_it + page.render([report], lambda row: card.of_bundle(stored)))
    assert not tags.found & {"img", "script"}


def _tokens(tokens):
    for one in tokens:
        yield one
        yield from _tokens(one.children or ())


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
