"""Tiny adapters without a client: each misbehaves in the way that its name says.

python miniatures.py MODE
"""

from __future__ import annotations

import json
import sys
import threading

TOPIC_RECORD = {"partition": 0, "offset": 0}


def say(name: str, **fields: object) -> None:
    print(json.dumps({"name": name, **fields}), flush=True)


def main(mode: str) -> None:
    if mode == "dies-at-start":
        sys.exit("no luck today")
    if mode == "never-ready":
        sys.stdin.read()
        return
    say("adapter_ready", adapter=mode, version="1")
    for line in sys.stdin:
        row = json.loads(line)
        if row["command"] == "reset":
            say("reset_complete")
        else:
            act(mode, row)


def act(mode: str, row: dict) -> None:
    client, command = row["client"], row["command"]
    if row.get("kind") == "teapot" and mode != "never-says-no":
        say("not_supported", client=client, what="a teapot")
    elif command == "open":
        say("startup_complete", client=client)
    elif mode == "dies" and command == "send":
        sys.exit("out of luck")
    elif mode == "hangs":
        threading.Event().wait(3600)
    elif mode == "babbles":
        print("I am sending now", flush=True)
    elif mode == "lacks" and command == "send":
        say("not_supported", client=client, what="records")
    elif mode == "lies" and command == "send":
        for record in row["records"]:
            told = {"topic": row["topic"], "key": record["key"], "value": record["value"]}
            say("producer_send_success", client=client, **told, **TOPIC_RECORD)
    elif mode == "lies" and command == "flush":
        say("flush_complete", client=client)
    elif mode == "lies" and command == "subscribe":
        place = {"topic": row["topics"][0], "partition": 0}
        record = place | {"offset": 0, "key": None, "value": "hello"}
        rows = [place | {"count": 1, "minOffset": 0, "maxOffset": 0}]
        say("records_consumed", client=client, count=1, partitions=rows, records=[record])


if __name__ == "__main__":
    main(sys.argv[1])
