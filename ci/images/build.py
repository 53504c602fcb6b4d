#!/usr/bin/env python3
"""Build images of Apache Kafka from this machine's Java and Maven's jars: no base image is pulled.

    ci/images/build.py 4.3 [1.0 ...]     makes touchstone/kafka:4.3.1 ...

An image is FROM scratch in one layer: a Java runtime (cut down by jlink where the JDK has it, else
the whole runtime), the C libraries that `ldd` says it wants, a static busybox for /bin/sh, and the
jars of the release in /kafka. It is imported from a tar written here, so no builder is needed, and
the same inputs give the same bytes. Needs: a Docker engine (ci/images/engine starts one), Java,
Maven, and busybox of Debian's package busybox-static.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(
    0, str(next(up for up in Path(__file__).resolve().parents if (up / "touchstone").is_dir()))
)

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.cache import cache_dir, kept
from touchstone.harness.targets.java import Java, find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.targets.release import Release
from touchstone.harness.targets.released import find

# What Kafka, ZooKeeper and both logging bindings load: beans (java.desktop), JMX, JAAS, XML, JNDI.
MODULES = (
    "java.base,java.desktop,java.logging,java.management,java.naming,java.security.jgss,"
    "java.security.sasl,java.sql,java.xml,jdk.crypto.ec,jdk.management,jdk.unsupported"
)
_WANTED = re.compile(r"(/\S+) \(0x")


def image(wanted: Release) -> str:
    return f"touchstone/kafka:{wanted.version}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", nargs="+")
    arguments = parser.parse_args()
    try:
        program("docker", "docker.io")
        began = time.monotonic()
        java = runtime()
        print(f"runtime: {java} in {time.monotonic() - began:.1f} s", flush=True)
        for version in arguments.version:
            build(find(version), java)
    except (Unavailable, ValueError) as error:
        print(f"ci/images/build.py: {error}", file=sys.stderr)
        return 1
    return 0


def build(wanted: Release, java: Path) -> None:
    """Write the tar into `docker import`, and say what came of it."""
    began = time.monotonic()
    home = kafka_home(wanted)
    changes = ["ENV PATH=/java/bin:/bin", "ENV JAVA_HOME=/java", "WORKDIR /tmp"]
    argv = ["docker", "import", *(part for change in changes for part in ("--change", change))]
    with subprocess.Popen([*argv, "-", image(wanted)], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as docker:  # fmt: skip
        assert docker.stdin is not None, "it was opened with a pipe"
        with tarfile.open(fileobj=docker.stdin, mode="w|") as tar:
            fill(tar, home, java)
        docker.stdin.close()
    if docker.returncode:
        raise Unavailable(f"docker import ended with {docker.returncode}")
    size = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{.Size}}", image(wanted)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    seconds = time.monotonic() - began
    print(f"{image(wanted)}: {int(size) / 1e6:.0f} MB in {seconds:.1f} s", flush=True)


def fill(tar: tarfile.TarFile, home: Path, java: Path) -> None:
    """Everything the image holds, in a fixed order and with fixed owners and times."""
    for name, mode in (("tmp", 0o1777), ("etc", 0o755), ("bin", 0o755), ("data", 0o755)):
        directory = tarfile.TarInfo(name)
        directory.type, directory.mode = tarfile.DIRTYPE, mode
        tar.addfile(directory)
    passwd = b"root:x:0:0:root:/tmp:/bin/sh\n"
    entry = tarfile.TarInfo("etc/passwd")
    entry.size = len(passwd)
    tar.addfile(entry, io.BytesIO(passwd))
    tar.add(program("busybox", "busybox-static"), "bin/busybox", filter=plain)
    for name in ("sh", "printf", "cat", "ls", "kill", "mkdir"):
        link = tarfile.TarInfo(f"bin/{name}")
        link.type, link.linkname = tarfile.SYMTYPE, "busybox"
        tar.addfile(link)
    for path in sorted(java.rglob("*")):
        if path.is_file():
            tar.add(path, f"java/{path.relative_to(java)}", filter=plain)
    for library in libraries(java, home):
        tar.add(library.resolve(), str(library).lstrip("/"), filter=plain)
    for jar in sorted(home.glob("*.jar")):
        tar.add(jar, f"kafka/{jar.name}", filter=plain)


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def runtime() -> Path:
    """A cut-down runtime where this JDK can make one, else the whole of it; made once per JDK."""
    java = find_java()
    digest = hashlib.sha256(f"{java.home} {java.feature} {MODULES}".encode()).hexdigest()[:8]
    entry = cache_dir() / f"runtime-{java.feature}-{digest}"
    return kept(entry, lambda folder: _runtime(java, folder / "java")) / "java"


def _runtime(java: Java, folder: Path) -> None:
    jlink = java.home / "bin" / "jlink"
    if not (jlink.exists() and (java.home / "jmods").is_dir()):
        print(f"no jlink in {java.home}: the whole runtime goes into the image", flush=True)
        shutil.copytree(java.home, folder, symlinks=False, ignore_dangling_symlinks=True)
        return
    subprocess.run(
        [jlink, "--module-path", java.home / "jmods", "--add-modules", MODULES, "--strip-debug",
         "--no-header-files", "--no-man-pages", "--compress=1", "--output", folder],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def libraries(java: Path, home: Path) -> list[Path]:
    """The system's libraries that the runtime and the jars' codecs want, by the paths they ask for.

    Jars unpack native codecs of their own at first use, and those want more than Java does: zstd
    asks for libpthread, without which a broker answers zstd batches with -1 and serves the rest.
    """
    with tempfile.TemporaryDirectory() as folder:
        binaries = [java / "bin" / "java", *sorted((java / "lib").rglob("*.so"))]
        said = subprocess.run(
            ["ldd", *binaries, *natives(home, Path(folder))],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
    found = {Path(match) for match in _WANTED.findall(said)}
    return sorted(path for path in found if not path.is_relative_to(java) and path.exists())


def natives(home: Path, folder: Path) -> list[Path]:
    """Every shared object in the jars, unpacked; `ldd` says nothing of other machines' ones."""
    unpacked = []
    for jar in sorted(home.glob("*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".so"):
                    unpacked.append(Path(archive.extract(name, folder / jar.stem)))
    return unpacked


def program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"no {name} (Debian's package {package})")
    return found


if __name__ == "__main__":
    sys.exit(main())
