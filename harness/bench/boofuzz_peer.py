"""boofuzz on a Kafka broker, as fast as it can be made: HOST PORT SECONDS fresh|persistent.

Prints how many cases it sent in a second. Metadata v4, every field a primitive of boofuzz's; no
text log, no web page, nothing received: with its defaults it is five times slower. Runs in whatever
Python has boofuzz, so nothing here is imported by the bench that starts it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

METADATA, VERSION = 3, 4


def request() -> Any:
    import boofuzz

    body = boofuzz.Block(
        "body",
        children=(
            boofuzz.Word("key", METADATA, endian=">", fuzzable=False),
            boofuzz.Word("version", VERSION, endian=">", fuzzable=False),
            boofuzz.DWord("correlation", 1, endian=">"),
            boofuzz.Word("client length", 4, endian=">"),
            boofuzz.String("client", "fuzz"),
            boofuzz.DWord("topics", 1, endian=">"),
            boofuzz.Word("topic length", 5, endian=">"),
            boofuzz.String("topic", "topic"),
            boofuzz.Byte("create", 0),
        ),
    )
    size = boofuzz.Size("size", "body", length=4, endian=">", fuzzable=False)
    return boofuzz.Request("Metadata", children=(size, body))


def main(host: str, port: str, seconds: str, way: str) -> None:
    import boofuzz

    began, sent = time.monotonic(), 0

    def after_case(*_: object, **__: object) -> None:
        nonlocal sent
        sent += 1
        spent = time.monotonic() - began
        if spent >= float(seconds):
            print(sent / spent, flush=True)
            os._exit(0)  # there is no end to wait for

    session = boofuzz.Session(
        target=boofuzz.Target(connection=boofuzz.TCPSocketConnection(host, int(port))),
        fuzz_loggers=[],
        db_filename=tempfile.mkdtemp(prefix="touchstone-boofuzz-") + "/run.db",
        web_port=None,
        keep_web_open=False,
        sleep_time=0,
        receive_data_after_fuzz=False,
        receive_data_after_each_request=False,
        check_data_received_each_request=False,
        reuse_target_connection=way == "persistent",
        post_test_case_callbacks=[after_case],
    )
    session.connect(request())
    began = time.monotonic()
    while True:
        session.fuzz(max_depth=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
