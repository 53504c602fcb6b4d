"""`python -m ci.docs`: build the documentation strictly, check its links, say how large it is.

Exit code 0: built without a warning, every link leads somewhere; 1: it says what is wrong.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from ci.docs import links

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.docs", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs", metavar="DIR")
    out = parser.parse_args(arguments).out.resolve()
    began = time.monotonic()
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)],
        cwd=ROOT, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    if built.returncode:
        return 1
    found = list(links.problems(out))
    for problem in found:
        print(f"docs: {problem}", file=sys.stderr)
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{pages} pages in {out}, {time.monotonic() - began:.0f} s, {len(found)} problems")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
