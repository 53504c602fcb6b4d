"""The tree of schemas is whole: every key, every version, and a line in prose for each."""

import re
from pathlib import Path

import pytest

from touchstone.reference_impl import wire
from touchstone.reference_impl.wire import apis
from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.schema import FIXED, span, walk

KINDS = {*FIXED, "string", "bytes", "records", "struct"}


def test_keys_have_no_gaps_and_each_has_a_version():
    assert list(API) == list(range(len(API)))
    assert all(len(api.versions) > 0 for api in API.values())


def test_request_and_response_have_the_same_versions():
    assert all(api.request.versions == api.response.versions for api in API.values())


def test_names_lead_to_their_api():
    assert {by_name(api.name) for api in API.values()} == set(API.values())
    assert by_name("ListOffsets").key == 2


@pytest.mark.parametrize("api", API.values(), ids=lambda api: api.stem)
def test_every_version_has_its_line(api):
    module = __import__(f"{apis.__name__}.{api.stem}", fromlist=["__doc__"])
    lines = [int(number) for number in re.findall(r"^v(\d+) ", module.__doc__, re.MULTILINE)]
    assert lines == list(api.versions)


@pytest.mark.parametrize("api", API.values(), ids=lambda api: api.stem)
def test_rows_make_sense(api):
    for message in (api.request, api.response):
        assert span(message.flexible)[0] == 0 or message.flexible.endswith("+")
        for path, row in walk(message.fields):
            assert row.element in KINDS, path
            assert bool(row.fields) <= (row.element == "struct"), path
            low, high = span(row.versions)
            assert 0 <= low <= span(message.versions)[1], path
            if row.tag is not None:
                assert low >= span(message.flexible)[0], path
            if row.default is None:
                assert row.nullable, path


def test_the_page_runs():
    """The README's blocks, in order, as one program."""
    page = Path(wire.__file__).with_name("README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 5
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
