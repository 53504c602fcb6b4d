"""Over how long quotas average, as a broker is told: quota.window.num samples, and how long each.

Source: QuotaConfigs (quota.window.*, controller.quota.window.*) at 3.9.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.reference_impl.cluster.quota_rates import Window

CLIENT = ("quota.window.num", "quota.window.size.seconds")
CONTROLLER = ("controller.quota.window.num", "controller.quota.window.size.seconds")


def window(config: Mapping[str, str], names: tuple[str, str] = CLIENT) -> Window:
    """Of the settings with these two names."""
    samples, seconds = (config.get(name) for name in names)
    usual = Window()
    return Window(
        int(samples) if samples else usual.samples, int(seconds) * 1000 if seconds else usual.ms
    )
