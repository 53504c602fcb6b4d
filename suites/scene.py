"""The former place of `kit.topics`."""

from touchstone.suites.kit.topics import among  # noqa: F401
