"""Key sets, which key of one is meant, and how often an unknown one is looked for."""

from __future__ import annotations

import hmac
import json
from base64 import b64encode
from hashlib import sha1, sha256

import pytest

from touchstone.reference_impl.broker.security.token_keys import (
    AGAIN_AFTER_MS,
    LONGEST_ID,
    MOST_MISSING,
    MissingKeys,
)
from touchstone.reference_impl.security.json_web_keys import (
    ALGORITHMS,
    Wanted,
    base64url,
    chosen,
    has_signed,
    json_object,
)
from touchstone.reference_impl.security.signatures import key_set
from touchstone.reference_impl.tests.security.signed_tokens import jwk, jwks, key, part


def numbered(*entries: dict) -> str:
    """A set whose entries have their place for an id, if they say no other."""
    return json.dumps({"keys": [{"kid": str(at), **each} for at, each in enumerate(entries)]})


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""),
        ("Zm9v", b"foo"),
        ("Zm9vYg==", b"foob"),
        ("Zm9vYg", b"foob"),
        ("Zm9vY", b"foo"),
        ("Z~m 9\nv", b"foo"),
        ("Zm9v=Zm9v", b"foo"),
        ("-_+/", b"\xfb\xff\xbf"),
    ],
)
def test_base64url_is_read_as_jose4j_reads_it(text, data):
    assert base64url(text) == data


@pytest.mark.parametrize("text", ["", "[]", "1", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000])
def test_what_is_no_json_object(text):
    with pytest.raises(ValueError):
        json_object(text)


def test_an_entry_that_cannot_be_read_is_passed_by():
    good, number = jwk("rsa"), 7
    bad = [
        number, {"kty": "RSA"}, {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, {"kty": "x"},
        good | {"kid": number}, good | {"use": [1]}, good | {"n": number}, {"kty": "oct"},
        good | {"key_ops": number}, good | {"x5c": 7},
    ]  # fmt: skip
    (found,) = key_set(json.dumps({"keys": [*bad, good]}))
    assert found.id == "rsa" and found.bits == 2048


def test_a_private_key_verifies_without_its_secret():
    numbers = key("rsa").private_numbers()
    secret = part(numbers.d.to_bytes(256, "big"))
    (found,) = key_set(json.dumps({"keys": [jwk("rsa") | {"d": secret}]}))
    (read,) = found.verify.args
    assert not hasattr(read, "sign") and hasattr(read, "verify")


def test_the_first_key_that_fits_is_meant():
    keys = key_set(jwks("ec-256", "rsa", "rs256-only", "ec-384"))
    for wanted, kid in {
        Wanted("RS256"): "rsa",
        Wanted("RS512"): "rsa",
        Wanted("RS512", "rs256-only"): "rs256-only",
        Wanted("ES384"): "ec-384",
        Wanted("ES384", "ec-256"): "ec-256",  # who has the id is alone
        Wanted("HS256"): None,
        Wanted("RS256", "ec-256"): None,
    }.items():
        found = chosen(keys, wanted)
        assert (found and found.id) == kid, wanted


def test_a_certificate_names_its_key():
    der = b"no certificate, but nobody reads it"
    named = part(sha1(der).digest()), part(sha256(der).digest())
    said = jwk("rsa") | {"kid": "said", "x5t": named[0]}
    made = jwk("rsa") | {"kid": "made", "x5c": [b64encode(der).decode()]}
    other = jwk("rsa") | {"kid": "other", "x5t": "x", "x5t#S256": "x"}
    keys = key_set(numbered(other, made, said))
    assert chosen(keys, Wanted("RS256", thumbs=(named[0], None))).id == "made"
    assert chosen(keys, Wanted("RS256", thumbs=(None, named[1]))).id == "made"
    assert chosen(keys[:1], Wanted("RS256", thumbs=("y", None))) is None
    assert chosen(key_set(jwks("rsa")), Wanted("RS256", thumbs=("y", "y"))).id == "rsa"


@pytest.mark.parametrize("algorithm", [each for each in ALGORITHMS if each.startswith("HS")])
def test_a_secret_is_as_long_as_its_hash(algorithm):
    size = ALGORITHMS[algorithm].least_bits // 8
    short, long = key_set(
        json.dumps({"keys": [{"kty": "oct", "k": part(b"k" * n)} for n in (size - 1, size)]})
    )
    signature = {n: hmac.digest(b"k" * n, b"text", f"sha{8 * size}") for n in (size - 1, size)}
    assert has_signed(long, algorithm, b"text", signature[size])
    assert not has_signed(long, algorithm, b"text", signature[size - 1])
    assert not has_signed(short, algorithm, b"text", signature[size - 1])


def test_no_key_signs_with_none():
    assert "none" not in ALGORITHMS


def test_an_unknown_id_is_looked_for_once_a_minute():
    missing = MissingKeys()
    assert missing.wanted("a", 0)
    assert not missing.wanted("a", AGAIN_AFTER_MS - 1)
    assert missing.wanted("a", AGAIN_AFTER_MS)
    assert not missing.wanted("x" * (LONGEST_ID + 1), 0)
    assert missing.wanted("x" * LONGEST_ID, 0)
    missing.found(["a", None, "b"])
    assert missing.wanted("a", AGAIN_AFTER_MS)


def test_few_unknown_ids_are_remembered():
    missing = MissingKeys()
    for number in range(MOST_MISSING):
        assert missing.wanted(str(number), 0)
    assert not missing.wanted("0", 1)  # the first is used, so the second is the oldest
    assert missing.wanted("new", 1)
    assert not missing.wanted("0", 1)
    assert missing.wanted("1", 1)
