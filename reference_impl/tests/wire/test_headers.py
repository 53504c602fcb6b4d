"""Which header which message wears, and that headers are lossless too."""

import pytest

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import DecodeError
from touchstone.reference_impl.wire.headers import (
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_request_header,
    encode_response,
    request_header_version,
    response_header_version,
)


def test_every_request_and_response_comes_back():
    for api in API.values():
        for version in api.versions:
            frame = encode_request(api.key, version, 7, "me", {})
            request = decode_request(frame)
            assert request.header == RequestHeader(api.key, version, 7, None if
                (api.key, version) == (7, 0) else "me")  # fmt: skip
            assert request.end == len(frame)
            frame = encode_response(api.key, version, -7, {})
            response = decode_response(api.key, version, frame)
            assert (response.correlation_id, response.end) == (-7, len(frame))


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [
        (18, 2, 1, 0),
        (18, 3, 2, 0),  # the exception of KIP-511
        (18, 99, 2, 0),
        (7, 0, 0, 0),
        (7, 1, 1, 0),
        (7, 3, 2, 1),
        (3, 8, 1, 0),
        (3, 9, 2, 1),
        (17, 1, 1, 0),
        (17, 99, 1, 0),
        (88, 0, 2, 1),
        (999, 0, 1, 0),
    ],
)
def test_header_versions(key, version, request_header, response_header):
    assert request_header_version(key, version) == request_header
    assert response_header_version(key, version) == response_header


def test_the_client_id_is_never_compact():
    frame = encode_request_header(RequestHeader(3, 9, 1, "me"))
    assert frame == b"\x00\x03\x00\x09\x00\x00\x00\x01\x00\x02me\x00"


@pytest.mark.parametrize("client", [None, "", "me", "\udcff"])
@pytest.mark.parametrize("tags", [{}, {0: b"", 300: b"x"}])
def test_odd_headers_survive(client, tags):
    header = RequestHeader(3, 9, -1, client, tags)
    frame = encode_request_header(header)
    assert decode_request_header(frame) == (header, len(frame))


def test_a_tag_above_the_largest_int_survives():
    header = b"\0\x12\0\3\0\0\0\1\xff\xff\1\xff\xff\xff\xff\x0f\1a"
    read, end = decode_request_header(header)
    assert encode_request_header(read) == header[:end]


def test_tags_of_a_response_header_survive():
    frame = encode_response(3, 9, 1, {}, tags={5: b"abc"})
    assert decode_response(3, 9, frame).tags == {5: b"abc"}
    with pytest.raises(DecodeError):
        decode_response(3, 9, frame[:6])


def test_a_header_cut_short_is_refused():
    frame = encode_request(3, 9, 1, "me", {}, tags={5: b"abc"})
    for cut in range(len(frame)):
        with pytest.raises(DecodeError):
            decode_request(frame[:cut])
    with pytest.raises(DecodeError):
        decode_response(3, 9, b"\x00\x00\x00")


def test_a_request_nobody_knows_has_a_header_all_the_same():
    frame = encode_request_header(RequestHeader(999, 3, 5, "me"))
    assert decode_request_header(frame)[0].key == 999
    with pytest.raises(DecodeError, match="no schema for key 999 version 3"):
        decode_request(frame)
