"""`python -m touchstone.harness.tests.leaves`: change each leaf of each recorded answer.

[RELEASE ...]   these releases only; without any the newest and the oldest, by night all
--night         each version in each release, as the nightly test does
--write         write golden/forgiven.toml again: without what is seen, with what is missing
"""

from __future__ import annotations

import argparse
import sys
import time

from touchstone.harness.tests.leaves import forgiven, running


def main() -> int:
    parser = argparse.ArgumentParser(prog="leaves", description=__doc__)
    parser.add_argument("releases", nargs="*", default=[])
    parser.add_argument("--night", action="store_true", help="each version in each release")
    parser.add_argument("--write", action="store_true", help="write the list again")
    words = parser.parse_args()
    began = time.monotonic()
    releases = words.releases or (running.RELEASES if words.night else running.BY_DAY)
    trials = running.run(releases, nightly=words.night,
                         say=lambda text: print(text, file=sys.stderr, flush=True))  # fmt: skip
    rules = forgiven.read()
    if words.write:
        rules = forgiven.completed(rules, trials)
        forgiven.GOLDEN.write_text(forgiven.written(rules), encoding="utf-8")
    print(running.told(rules, trials))
    print(f"{time.monotonic() - began:.0f} s")
    whole = words.night and not words.releases
    wrong = list(forgiven.problems(rules, trials, whole=whole))
    print("\n".join(wrong[:200]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
