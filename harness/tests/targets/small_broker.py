"""A program that pretends to be brokers: it answers ApiVersions v0 and Metadata v1, nothing else.

    python -I small_broker.py --ports 1,2 --nodes 1,2 --racks a,b [--serve 1] [WORD ...]

It imports little, so that it serves within a tenth of a second, and leaves in its working directory
a file `seen.json` with its arguments and variables. It serves the ports of `--serve`, all without.
"""

import json
import os
import selectors
import socket
import struct
import sys


def text(word):
    return struct.pack(">h", -1) if word is None else struct.pack(">h", len(word)) + word.encode()


def versions():
    return struct.pack(">hi", 0, 1) + struct.pack(">hhh", 18, 0, 0)


def metadata(brokers):
    rows = b"".join(
        struct.pack(">i", node) + text("127.0.0.1") + struct.pack(">i", port) + text(rack or None)
        for node, port, rack in brokers
    )
    return struct.pack(">i", len(brokers)) + rows + struct.pack(">ii", brokers[0][0], 0)


def answer(connection, brokers):
    """One request of a connection; whether it is still open."""
    head = connection.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return False
    frame = connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL)
    key, _, correlation = struct.unpack_from(">hhi", frame)
    body = {18: versions, 3: lambda: metadata(brokers)}[key]()
    connection.sendall(struct.pack(">ii", len(body) + 4, correlation) + body)
    return True


def options(words):
    named = {"--ports": "0", "--nodes": "0", "--racks": "", "--serve": ""}
    rest = []
    while words:
        word = words.pop(0)
        if word in named:
            named[word] = words.pop(0)
        else:
            rest.append(word)
    return named, rest


def main():
    with open("seen.json", "w", encoding="utf-8") as seen:
        json.dump({"argv": sys.argv[1:], "environ": dict(os.environ)}, seen)
    named, rest = options(sys.argv[1:])
    if rest[:1] == ["--die"]:
        sys.exit("error: it was told to die")
    if rest[:1] == ["--die-once"] and not os.path.exists(rest[1]):
        with open(rest[1], "x", encoding="utf-8"):
            sys.exit("error: it was told to die once")
    ports = [int(port) for port in named["--ports"].split(",")]
    listening = {}
    for port in [int(port) for port in named["--serve"].split(",") if port] or ports:
        server = socket.create_server(("127.0.0.1", port))
        listening[server] = server.getsockname()[1]
    ports = ports if ports != [0] else list(listening.values())
    nodes = [int(node) for node in named["--nodes"].split(",")]
    racks = named["--racks"].split(",") if named["--racks"] else [""] * len(nodes)
    brokers = list(zip(nodes, ports, racks))  # noqa: B905
    chooser = selectors.DefaultSelector()
    for server in listening:
        chooser.register(server, selectors.EVENT_READ)
    print("ready", ",".join(f"127.0.0.1:{port}" for port in listening.values()), flush=True)
    while True:
        for found, _ in chooser.select():
            if found.fileobj in listening:
                chooser.register(found.fileobj.accept()[0], selectors.EVENT_READ)
            elif not answer(found.fileobj, brokers):
                chooser.unregister(found.fileobj)
                found.fileobj.close()


if __name__ == "__main__":
    main()
