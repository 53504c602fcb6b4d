"""The folder of API files is the registry: every file is found by key and by Kafka's name."""

import subprocess
import sys

import pytest

from touchstone.reference_impl.wire.apis import API, by_name

FRESH = """
import sys
from touchstone.reference_impl.wire.apis import API
assert 3 in API and len(API) not in API and API.get(len(API)) is None
loaded = [name for name in sys.modules if name.startswith("touchstone.reference_impl.wire.apis.k")]
assert not loaded, loaded
assert API[3].name == "Metadata"
loaded = [name for name in sys.modules if name.startswith("touchstone.reference_impl.wire.apis.k")]
assert loaded == ["touchstone.reference_impl.wire.apis.k03_metadata"], loaded
"""


@pytest.mark.parametrize("key", API)
def test_every_api_is_found_by_its_name(key: int) -> None:
    assert by_name(API[key].name) is API[key]


def test_an_api_that_nobody_has_is_a_key_error() -> None:
    for name in ("Produc", "PRODUCE", "kProduce", ""):
        with pytest.raises(KeyError):
            by_name(name)


def test_an_api_is_imported_when_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-c", FRESH], check=True)
