"""A program that is a small Kafka until somebody asks for a topic called "deadly"; then it ends."""

import os
import signal
import sys

from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word


def dies(key, version, answer):
    if key == CREATE_TOPICS and answer["topics"][0]["name"] == "deadly":
        print("panic: it is deadly\n\ngoroutine 1 [running]:", file=sys.stderr, flush=True)
        os._exit(3)
    return answer


if __name__ == "__main__":
    print("ready", word(small_kafka(twist=dies)), flush=True)
    signal.pause()
