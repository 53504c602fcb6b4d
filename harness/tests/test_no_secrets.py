"""Credentials are in nothing that a run leaves: results, output, findings, captures.

One run with a difference (a planted defect), so that bundles and cards are written, with a secret
that stands nowhere else; then every file and everything that was printed is looked through for it,
for what SASL makes of it, and for its encodings.
"""

from __future__ import annotations

import base64
import dataclasses
import lzma
import os
import subprocess
import sys
import urllib.parse
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from touchstone.harness.run import pcap
from touchstone.harness.tests.targets.secured import Secured, secured, written
from touchstone.harness.tests.witness import golden
from touchstone.reference_impl.tests.client.security.listeners import PASSWORD, USER
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

pytestmark = pytest.mark.slow  # 20 s: runs in processes of their own
SECONDS = 240
CASE = "test_batches_above_max_message_bytes_are_refused"
# PLAIN's token, SCRAM's messages, a login module, and how a key begins.
FRAMES = (f"\0{USER}\0", f"n,,n={USER}", "c=biws,r=", "LoginModule", "PRIVATE KEY")


def secrets() -> Iterator[bytes]:
    plain = PASSWORD.encode()
    yield plain
    yield plain.hex().encode()
    yield PASSWORD.encode("utf-16-le")
    yield urllib.parse.quote(PASSWORD, safe="").encode()
    for text in (PASSWORD, f"\0{USER}\0{PASSWORD}", f"{USER}:{PASSWORD}"):
        for shift in range(3):  # however it lies among others
            coded = base64.b64encode(b"x" * shift + text.encode())
            yield coded[4 if shift else 0 : -4]
    yield from (each.encode() for each in FRAMES)
    yield from (base64.b64encode(each.encode())[:-4] for each in FRAMES)
    yield from (each.encode().hex().encode() for each in FRAMES)


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield str(path), data
            if path.suffix == ".xz":
                yield f"{path} unpacked", lzma.decompress(data)
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as packed:
                    yield from ((f"{path}: {one}", packed.read(one)) for one in packed.namelist())


def leaks(folder: Path, *said: str) -> list[str]:
    found = [*contents(folder), *(("output", each.encode()) for each in said)]
    return [f"{place}: {secret!r}" for place, data in found for secret in secrets()
            if secret.lower() in data.lower()]  # fmt: skip


@pytest.fixture(scope="module")
def broker() -> Iterator[Secured]:
    with secured(switches=("max-message-bytes-ignored",)) as found:
        yield found


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True, timeout=SECONDS,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip


def test_what_is_looked_for_is_found(tmp_path):
    (tmp_path / "a").write_text(f"the password is {PASSWORD.upper()}")
    (tmp_path / "b.xz").write_bytes(lzma.compress(f"\0{USER}\0x".encode()))
    coded = base64.b64encode(f"x \0{USER}\0{PASSWORD} y".encode()).decode()
    found = leaks(tmp_path, coded)
    assert {one.partition(": ")[0] for one in found} >= {
        str(tmp_path / "a"), f"{tmp_path / 'b.xz'} unpacked", "output",
    }  # fmt: skip


def test_a_login_in_a_capture_is_found(tmp_path):
    """As it would lie there if connections were written down from their beginning."""
    body = {"auth_bytes": f"\0{USER}\0{PASSWORD}".encode()}
    frame = headers.encode_request(by_name("SaslAuthenticate").key, 2, 1, "test", body)
    said = golden("4.3")
    sent = next(event for event in said.events if event.direction == "sent")
    logged_in = dataclasses.replace(said, events=(dataclasses.replace(sent, raw=frame),))
    (tmp_path / "a.pcap").write_bytes(pcap.dumps([logged_in]))
    assert f"{tmp_path / 'a.pcap'}: {PASSWORD.encode()!r}" in leaks(tmp_path)
    (tmp_path / "a.pcap").write_bytes(pcap.dumps([said]))
    assert leaks(tmp_path) == []


@pytest.mark.parametrize(
    ("listener", "mechanism"),
    [("SASL_PLAINTEXT", "PLAIN"), ("SASL_SSL", "SCRAM-SHA-256"), ("SSL", "a certificate")],
)
def test_a_run_with_a_difference_leaves_nothing_of_a_login(broker, tmp_path, listener, mechanism):
    path = written(tmp_path, broker.properties(listener, mechanism))
    results = tmp_path / "results"
    done = run(
        "pytest", "-p", "no:cacheprovider", "--pyargs", "touchstone.suites.produce", "--newest",
        "-k", CASE, "--target", broker.where[listener], "--command-config", str(path),
        "--results", str(results), "--run", "one", "--alluredir", str(results / "allure"),
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    (bundle,) = (results / "one" / "bundles").rglob("*.bundle.json")
    assert f"--command-config {path}" in done.stdout
    again = run(
        "touchstone", "replay", str(bundle), "--target", broker.where[listener],
        "--command-config", str(path), "--out", str(results / "again"), cwd=tmp_path,
    )  # fmt: skip
    assert again.returncode == 1, again.stdout + again.stderr
    shown = run("touchstone", "diff", str(bundle), "--all", "--hex", "--pcap",
                str(results / "one.pcap"), cwd=tmp_path)  # fmt: skip
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert len(list(results.rglob("*.pcap"))) > 1  # that one, and what the Allure report has
    said = (text for one in (done, again, shown) for text in (one.stdout, one.stderr))
    assert leaks(results, *said) == []


def test_a_fuzz_run_leaves_nothing_of_a_login(broker, tmp_path):
    path = written(tmp_path, broker.properties("SASL_SSL", "SCRAM-SHA-512"))
    done = run(
        "touchstone", "fuzz", "--target", broker.where["SASL_SSL"], "--command-config", str(path),
        "--campaign", "layers", "--cases", "60", "--out", str(tmp_path / "out"), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    path.unlink()
    assert leaks(tmp_path, done.stdout, done.stderr) == []


def test_a_login_that_is_refused_is_one_line_and_no_verdict(broker, tmp_path):
    wrong = broker.properties("SASL_SSL", "PLAIN", password=f"not-{PASSWORD}")
    path = written(tmp_path, wrong)
    done = run(
        "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "touchstone.suites.produce",
        "--newest", "--target", broker.where["SASL_SSL"], "--command-config", str(path),
        "--results", str(tmp_path / "results"), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "the login is refused" in line]
    assert len(lines) == 1
    assert "cases not run: " in lines[0]
    assert leaks(tmp_path / "results", done.stdout, done.stderr) == []
