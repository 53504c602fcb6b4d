"""These switches plant defects that only who speaks TLS can see: (name, sentence, caught by).

Claims have no keys, so a test notices these: test_altered_listeners.py of reference_impl plays
on a planted broker what was played on real Kafka. `switches.py` lists them.
"""

_PLAYED = "test_altered_listeners"
ROWS = (
    (
        "listener-keys-kept",
        "New keys of a listener are taken, and the old certificate is shown on.",
        _PLAYED,
    ),
    (
        "listener-keys-not-checked",
        "Keys of a listener that cannot be had are taken, and described.",
        _PLAYED,
    ),
    (
        "listener-files-not-reread",
        "A file of keys that was replaced is not read before its setting changes.",
        _PLAYED,
    ),
    (
        "listener-fixed-settings-not-checked",
        "What a listener keeps as long as it exists does not stand in the way of other settings.",
        _PLAYED,
    ),
)
