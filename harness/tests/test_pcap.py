"""A capture gives back every frame, by connection and direction, to a foreign reader."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.model import transcript
from touchstone.harness.run import pcap
from touchstone.harness.tests.conversations import doctored
from touchstone.harness.tests.witness import golden

FIN, RST = 0x01, 0x04


@pytest.fixture(scope="module")
def scapy():
    """The optional extra: `pcap`."""
    return pytest.importorskip("scapy.utils"), pytest.importorskip("scapy.layers.inet")


def streams(scapy, path):
    """(connection's client port, server, "ours" or "theirs") -> its bytes, and the last flags."""
    utils, inet = scapy
    data, flags = {}, {}
    for packet in utils.rdpcap(str(path)):
        ip = inet.IP(bytes(packet))
        tcp = ip[inet.TCP]
        for layer in (ip, tcp):  # what scapy computes must be what stands there
            fresh = inet.IP(bytes(ip))
            del fresh[layer.__class__].chksum
            assert inet.IP(bytes(fresh))[layer.__class__].chksum == layer.chksum
        ours = tcp.dport == pcap.PORT
        key = (tcp.sport if ours else tcp.dport, ip.dst if ours else ip.src, ours)
        data[key] = data.get(key, b"") + bytes(tcp.payload)
        flags[key] = int(tcp.flags)
    return data, flags


def expected(found, direction):
    """What one side said on each connection, by the transcript."""
    said = {}
    for event in found.events:
        if event.direction == "opened":
            said.setdefault(event.connection, b"")
        if event.direction == direction:
            size = struct.pack(">i", len(event.raw)) if event.framed else b""
            said[event.connection] = said.get(event.connection, b"") + size + event.raw
        elif direction == "received" and event.direction in pcap.ENDINGS:
            said[event.connection] += event.raw
    return list(said.values())


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_a_foreign_reader_finds_every_frame(scapy, tmp_path, release):
    found = golden(release)
    path = tmp_path / "one.pcap"
    path.write_bytes(pcap.dumps([found]))
    data, _ = streams(scapy, path)
    for direction, ours in (("sent", True), ("received", False)):
        got = [part for key, part in sorted(data.items()) if key[2] is ours]
        assert got == expected(found, direction)


def test_frames_larger_than_a_packet_and_every_way_to_end(scapy, tmp_path):
    found = golden("4.3")
    event = next(event for event in found.events if event.direction == "received")
    large = dataclasses.replace(event, raw=event.raw + bytes(100_000))
    lost = dataclasses.replace(event, direction="reset", raw=b"", at_us=event.at_us + 1)
    opened = next(event for event in found.events if event.direction == "opened")
    cut = dataclasses.replace(found, events=(opened, large, lost))
    path = tmp_path / "large.pcap"
    path.write_bytes(pcap.dumps([cut]))
    data, flags = streams(scapy, path)
    (theirs,) = [part for key, part in data.items() if not key[2]]
    assert theirs == struct.pack(">i", len(large.raw)) + large.raw
    assert [flag & (FIN | RST) for key, flag in flags.items() if not key[2]] == [RST]


def test_diff_writes_both_sides(scapy, tmp_path):
    honest = golden("4.3")
    label = next(one.label for one in honest.round_trips if one.answer is not None)
    liar = doctored(honest, label, lambda body: body.update(error_code=9))
    names = []
    for name, one in (("a", honest), ("b", liar)):
        names.append(str(tmp_path / f"{name}.jsonl"))
        (tmp_path / f"{name}.jsonl").write_text(transcript.dumps(one))
    path = tmp_path / "both.pcap"
    done = CliRunner().invoke(main, ["diff", *names, "--pcap", str(path)])
    assert done.exit_code == 1, done.output
    data, _ = streams(scapy, path)
    assert {key[1] for key in data} == {"198.51.100.1", "198.51.100.2"}
