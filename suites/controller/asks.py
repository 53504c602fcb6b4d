"""The former place of `kit.controllers`."""

from touchstone.suites.kit.controllers import *  # noqa: F403
