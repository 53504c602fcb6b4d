"""A `docker` for tests: a container is a process of this machine, an image whatever it is given.

The folder $FAKE_DOCKER has a file for each container, with its process and what it was run with.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

STATE = Path(os.environ.get("FAKE_DOCKER", "."))
VALUED = ("--name", "--label", "--volume", "--publish", "--network", "--env")
SIGNALS = {"kill": signal.SIGKILL, "pause": signal.SIGSTOP, "unpause": signal.SIGCONT}


def attached(name, kept):
    """The container in the foreground, as `docker run` has it."""
    child = subprocess.Popen(kept["argv"], env={**os.environ, **kept["env"]})
    kept["pid"] = child.pid
    (STATE / name).write_text(json.dumps(kept))
    return child.wait() & 255


def run(words):
    given = {option: [] for option in VALUED}
    while words[0] in VALUED:
        given[words.pop(0)].append(words.pop(0))
    image, *argv = words
    env = dict(pair.split("=", 1) for pair in given["--env"])
    kept = {"argv": argv, "env": env, "image": image, "given": given}
    return attached(given["--name"][0], kept)


def listed(words):
    for path in STATE.iterdir():
        labels = json.loads(path.read_text())["given"]["--label"]
        print(path.name, *(label.partition("=")[2] for label in labels))
    return 0


def main(verb, *words):
    words = list(words)
    if verb == "run":
        return run(words)
    if verb == "ps":
        return listed(words)
    if verb in ("version", "image", "pull"):
        missing = "no-such-image" in words
        print("no such image" if missing else "1.0", file=sys.stderr if missing else sys.stdout)
        return int(missing)
    path = STATE / words[-1]
    kept = json.loads(path.read_text())
    if verb == "start":
        return attached(path.name, kept)
    with_end = {"stop": signal.SIGTERM, "rm": signal.SIGKILL}
    with contextlib.suppress(ProcessLookupError):
        os.kill(kept["pid"], SIGNALS.get(verb) or with_end[verb])
    if verb == "rm":
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
