"""The answers of 4.3.1 in each cell of the consumer groups' matrix (`test_consumer_matrix.py`).

A row per request, an entry per state of the member: the error, or the member epoch where there is
none, and behind ">" the group's state afterwards (nothing where there is no such group).

The preview of 3.9 answers the same, an epoch lower, but for the cells of `_PREVIEW`.

Observed on 3.9.2 and 4.3.1; every cell is recorded.
"""

_ROWS: dict[str, dict[str, str]] = {
    "beat": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "2 > Stable",
        "behind": "2 > Reconciling",
        "unrevoked": "2 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
        "released": "3 > Stable",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "owning": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "2 > Stable",
        "behind": "2 > Reconciling",
        "unrevoked": "3 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
        "released": "3 > Stable",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "owning-nothing": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "2 > Stable",
        "behind": "3 > Reconciling",
        "unrevoked": "3 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
        "released": "3 > Stable",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "owning-all": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "2 > Stable",
        "behind": "2 > Reconciling",
        "unrevoked": "2 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
        "released": "3 > Stable",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "of-the-epoch-before": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "FENCED_MEMBER_EPOCH > Stable",
        "behind": "FENCED_MEMBER_EPOCH > Reconciling",
        "unrevoked": "3 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "FENCED_MEMBER_EPOCH > Reconciling",
        "released": "FENCED_MEMBER_EPOCH > Reconciling",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "of-the-epoch-before-unowned": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "FENCED_MEMBER_EPOCH > Stable",
        "behind": "FENCED_MEMBER_EPOCH > Reconciling",
        "unrevoked": "2 > Reconciling",
        "revoked": "FENCED_MEMBER_EPOCH > Reconciling",
        "unreleased": "FENCED_MEMBER_EPOCH > Reconciling",
        "released": "FENCED_MEMBER_EPOCH > Reconciling",
        "settled": "3 > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "of-a-later-epoch": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "FENCED_MEMBER_EPOCH > Stable",
        "behind": "FENCED_MEMBER_EPOCH > Reconciling",
        "unrevoked": "FENCED_MEMBER_EPOCH > Reconciling",
        "revoked": "FENCED_MEMBER_EPOCH > Reconciling",
        "unreleased": "FENCED_MEMBER_EPOCH > Reconciling",
        "released": "FENCED_MEMBER_EPOCH > Reconciling",
        "settled": "FENCED_MEMBER_EPOCH > Stable",
        "away": "FENCED_MEMBER_EPOCH > Reconciling",
    },
    "joining": {
        "unknown": "2 > Stable",
        "left": "4 > Stable",
        "stable": "2 > Stable",
        "behind": "3 > Reconciling",
        "unrevoked": "3 > Reconciling",
        "revoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
        "released": "3 > Stable",
        "settled": "3 > Stable",
        "away": "2 > Stable",
    },
    "leaving": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "-1 > Empty",
        "behind": "-1 > Assigning",
        "unrevoked": "-1 > Assigning",
        "revoked": "-1 > Assigning",
        "unreleased": "-1 > Assigning",
        "released": "-1 > Assigning",
        "settled": "-1 > Assigning",
        "away": "-1 > Empty",
    },
    "going-away": {
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "static": "-2 > Reconciling",
        "away": "-2 > Reconciling",
    },
    "of-a-stranger": {
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "unrevoked": "UNKNOWN_MEMBER_ID > Reconciling",
        "unreleased": "UNKNOWN_MEMBER_ID > Reconciling",
    },
    "of-another-instance": {
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "static": "UNKNOWN_MEMBER_ID > Stable",
        "away": "UNKNOWN_MEMBER_ID > Reconciling",
    },
    "joining-as-the-instance": {
        "left": "4 > Stable",
        "stable": "3 > Reconciling",
        "static": "UNRELEASED_INSTANCE_ID > Stable",
        "away": "2 > Stable",
    },
    "narrower": {
        "stable": "2 > Reconciling",
        "unrevoked": "2 > Reconciling",
        "unreleased": "4 > Reconciling",
    },
    "elsewhere": {
        "stable": "2 > Stable",
        "unrevoked": "2 > Reconciling",
        "unreleased": "3 > Reconciling",
    },
    "by-range": {
        "stable": "2 > Stable",
        "unrevoked": "2 > Reconciling",
        "unreleased": "3 > Reconciling",
    },
    "by-nobody": {
        "stable": "UNSUPPORTED_ASSIGNOR > Stable",
        "unrevoked": "UNSUPPORTED_ASSIGNOR > Reconciling",
        "unreleased": "UNSUPPORTED_ASSIGNOR > Reconciling",
    },
    "in-full": {
        "stable": "2 > Stable",
        "unrevoked": "3 > Reconciling",
        "unreleased": "3 > Reconciling",
    },
    "committing": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "NONE > Stable",
        "behind": "NONE > Reconciling",
        "unrevoked": "NONE > Reconciling",
        "away": "NONE > Reconciling",
    },
    "committing-before": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "STALE_MEMBER_EPOCH > Stable",
        "behind": "STALE_MEMBER_EPOCH > Reconciling",
        "unrevoked": "STALE_MEMBER_EPOCH > Reconciling",
        "away": "STALE_MEMBER_EPOCH > Reconciling",
    },
    "committing-later": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "STALE_MEMBER_EPOCH > Stable",
        "behind": "STALE_MEMBER_EPOCH > Reconciling",
        "unrevoked": "STALE_MEMBER_EPOCH > Reconciling",
        "away": "STALE_MEMBER_EPOCH > Reconciling",
    },
    "committing-simply": {
        "unknown": "NONE >",
        "left": "NONE > Empty",
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "behind": "UNKNOWN_MEMBER_ID > Reconciling",
        "unrevoked": "UNKNOWN_MEMBER_ID > Reconciling",
        "away": "UNKNOWN_MEMBER_ID > Reconciling",
    },
    "fetching": {
        "unknown": "NONE >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "NONE > Stable",
        "behind": "NONE > Reconciling",
        "unrevoked": "NONE > Reconciling",
        "away": "NONE > Reconciling",
    },
    "fetching-before": {
        "unknown": "NONE >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "STALE_MEMBER_EPOCH > Stable",
        "behind": "STALE_MEMBER_EPOCH > Reconciling",
        "unrevoked": "STALE_MEMBER_EPOCH > Reconciling",
        "away": "STALE_MEMBER_EPOCH > Reconciling",
    },
    "deleting": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "NONE >",
        "stable": "NON_EMPTY_GROUP > Stable",
        "behind": "NON_EMPTY_GROUP > Reconciling",
        "unrevoked": "NON_EMPTY_GROUP > Reconciling",
        "away": "NON_EMPTY_GROUP > Reconciling",
    },
    "deleting-offsets": {
        "unknown": "GROUP_ID_NOT_FOUND >",
        "left": "NONE > Empty",
        "stable": "NONE > Stable",
        "behind": "NONE > Reconciling",
        "unrevoked": "NONE > Reconciling",
        "away": "NONE > Reconciling",
    },
    "leaving-the-classic-way": {
        "unknown": "UNKNOWN_MEMBER_ID >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "NONE > Empty",
        "behind": "NONE > Assigning",
        "unrevoked": "NONE > Assigning",
        "away": "NONE > Empty",
    },
    "beating-the-classic-way": {
        "unknown": "UNKNOWN_MEMBER_ID >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "behind": "UNKNOWN_MEMBER_ID > Reconciling",
        "unrevoked": "UNKNOWN_MEMBER_ID > Reconciling",
        "away": "UNKNOWN_MEMBER_ID > Reconciling",
    },
    "syncing-the-classic-way": {
        "unknown": "UNKNOWN_MEMBER_ID >",
        "left": "UNKNOWN_MEMBER_ID > Empty",
        "stable": "UNKNOWN_MEMBER_ID > Stable",
        "behind": "UNKNOWN_MEMBER_ID > Reconciling",
        "unrevoked": "UNKNOWN_MEMBER_ID > Reconciling",
        "away": "UNKNOWN_MEMBER_ID > Reconciling",
    },
}

_PREVIEW: dict[tuple[str, str], str] = {
    ("joining", "unrevoked"): "FENCED_MEMBER_EPOCH > Reconciling",
    ("joining", "revoked"): "FENCED_MEMBER_EPOCH > Reconciling",
    ("joining", "settled"): "FENCED_MEMBER_EPOCH > Stable",
    ("leaving-the-classic-way", "stable"): "UNKNOWN_MEMBER_ID > Stable",
    ("leaving-the-classic-way", "behind"): "UNKNOWN_MEMBER_ID > Reconciling",
    ("leaving-the-classic-way", "unrevoked"): "UNKNOWN_MEMBER_ID > Reconciling",
    ("leaving-the-classic-way", "away"): "UNKNOWN_MEMBER_ID > Reconciling",
}
FIRST = 2  # the epoch of the first member

WORDS = {(name, state): word for name, row in _ROWS.items() for state, word in row.items()}


def lowered(word: str) -> str:
    """The word where groups begin at epoch 0."""
    answered, _, then = word.partition(" >")
    return f"{int(answered) - 1} >{then}" if answered.isdigit() else word


def in_the_preview(cell: tuple[str, str]) -> str:
    """What 3.9 answers in this cell."""
    return _PREVIEW.get(cell, lowered(WORDS[cell]))
