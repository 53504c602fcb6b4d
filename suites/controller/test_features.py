"""UpdateFeatures: raising and lowering the feature levels of a cluster, mostly with validate_only.

A raised level stays for every later case, so all requests but those that are refused set
validate_only. 2.8 serves the request, has no feature, and ignores validate_only.

Sources: KafkaController.processFeatureUpdates (2.8.2), FeatureControlManager (3.9.2, 4.3.1),
KIP-584, KIP-778, KIP-1022.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Ask
from touchstone.reference_impl.wire.errors import ErrorCode

API = "UpdateFeatures"
UPGRADE, SAFE, UNSAFE = 1, 2, 3
KRAFT = {"api": API, "releases": "3.9+"}


def update(version, feature, level, kind=UPGRADE, *, rehearsed=True, name="update"):
    row = {
        "feature": feature,
        "max_version_level": level,
        "allow_downgrade": kind != UPGRADE,
        "upgrade_type": kind,
    }
    body = {"timeout_ms": 5000, "feature_updates": [row], "validate_only": rehearsed}
    return Ask(API, version, body, name)


def refused(name, code):
    """By feature in 3.9; the whole request from 4.0 on."""
    return by_release(
        {
            "2.8-3.9": answer(name, "results[0].error_code").is_(code),
            "4.3": answer(name, "error_code").is_(code),
        }
    )


@claim("controller.no-features-to-update", evidence=("KIP-584",), api=API)
def test_no_features_to_update(case):
    """UpdateFeatures with no feature succeeds."""
    body = {"timeout_ms": 5000, "feature_updates": [], "validate_only": True}
    return case.scenario(
        Ask(API, case.version, body, "update"),
        expect=answer("update", "error_code").is_(ErrorCode.NONE),
    )


@claim("controller.unknown-features-are-refused", evidence=("KIP-584", "KIP-778"), api=API)
def test_unknown_features_are_refused(case):
    """UpdateFeatures of an unknown feature answers INVALID_REQUEST in 2.8 and
    INVALID_UPDATE_VERSION in KRaft.
    """
    return case.scenario(
        update(case.version, "no.such.feature", 1),
        expect=by_release(
            {
                "2.8": refused("update", ErrorCode.INVALID_REQUEST),
                "3.9+": refused("update", ErrorCode.INVALID_UPDATE_VERSION),
            }
        ),
    )


@claim("controller.features-have-a-highest-level", evidence=("KIP-584", "KIP-778"), **KRAFT)
def test_features_have_a_highest_level(case):
    """UpdateFeatures to a level above the supported range answers INVALID_UPDATE_VERSION."""
    return case.scenario(
        update(case.version, "metadata.version", 999),
        expect=refused("update", ErrorCode.INVALID_UPDATE_VERSION),
    )


@claim("controller.features-are-not-lowered-by-accident", evidence=("KIP-584", "KIP-778"), **KRAFT)
def test_features_are_not_lowered_by_accident(case):
    """UpdateFeatures to a lower level without a downgrade type answers INVALID_UPDATE_VERSION."""
    level = {"3.9": 20, "4.3": 27}[case.release]
    return case.scenario(
        update(case.version, "metadata.version", level),
        expect=refused("update", ErrorCode.INVALID_UPDATE_VERSION),
    )


@claim("controller.version-0-asks-for-no-downgrade", evidence=("KIP-778", "observed on 4.3.1"),
       api=API, versions=only(API, 0), releases="3.9+")  # fmt: skip
def test_version_0_asks_for_no_downgrade(case):
    """UpdateFeatures version 0 cannot downgrade: KRaft ignores its allow_downgrade field and
    answers INVALID_UPDATE_VERSION.
    """
    level = {"3.9": 20, "4.3": 27}[case.release]
    return case.scenario(
        update(0, "metadata.version", level, SAFE),
        expect=refused("update", ErrorCode.INVALID_UPDATE_VERSION),
    )


@claim("controller.a-downgrade-goes-down", evidence=("KIP-778",), api=API,
       versions=range_(API, 1), releases="3.9+", kind=(SAFE, UNSAFE),
       capabilities=("fixed-voters",))  # fmt: skip
def test_a_downgrade_goes_down(case):
    """UpdateFeatures with a downgrade type and a higher level answers INVALID_UPDATE_VERSION."""
    return case.scenario(
        update(case.version, "kraft.version", 1, case.kind),
        expect=refused("update", ErrorCode.INVALID_UPDATE_VERSION),
    )


@claim("controller.an-update-may-be-rehearsed", evidence=("KIP-778",), api=API,
       versions=range_(API, 1), releases="3.9+")  # fmt: skip
def test_an_update_may_be_rehearsed(case):
    """UpdateFeatures with validate_only succeeds and changes nothing: the same request succeeds
    again.
    """
    lower = {"3.9": ("metadata.version", 20), "4.3": ("group.version", 0)}[case.release]
    names = ("first", "again")
    return case.scenario(
        [update(case.version, *lower, SAFE, name=name) for name in names],
        expect=all_of(*(answer(name, "error_code").is_(ErrorCode.NONE) for name in names)),
    )
