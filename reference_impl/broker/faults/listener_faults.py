"""These switches plant defects of listeners that are altered: (name, sentence, caught by).

Claims have no keys, and know no ports that are free, so a test notices these:
test_altered_listeners.py plays on a planted broker what was played on real Kafka. `switches.py`
lists them.
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
    (
        "listener-addresses-not-told",
        "What advertised.listeners says anew is not told to clients.",
        _PLAYED,
    ),
)
