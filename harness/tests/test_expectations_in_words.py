"""An expectation in words: a reader needs neither the code nor the numbers of error codes."""

import pytest

from touchstone.harness.judgement.expectations import NOTHING_MORE, lines
from touchstone.harness.model.expect import (
    all_of,
    answer,
    any_of,
    by_release,
    connection,
    no_answer,
    nothing_expected,
    records,
    size,
)
from touchstone.harness.model.placeholders import Name, Now, Ref
from touchstone.reference_impl.wire.errors import ErrorCode

REFUSED = answer("a", "topics[0].error_code").is_(ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        (nothing_expected(), [NOTHING_MORE]),
        (REFUSED, ["a: topics[0].error_code is INVALID_REQUEST (42)"]),
        (answer("a", "error_code").is_one_of(0, 3), [
            "a: error_code is one of [NONE (0), UNKNOWN_TOPIC_OR_PARTITION (3)]"
        ]),
        (answer("a", "error_code").is_one_of(42), ["a: error_code is INVALID_REQUEST (42)"]),
        (answer("a", "count").is_(3), ["a: count is 3"]),
        (connection("b").is_("closed"), ["connection b is 'closed'"]),
        (size("a").at_most(100), ["a: size is at most 100"]),
        (records("f", "[0].value").is_(b"x"), ["f: records.[0].value is b'x'"]),
        (no_answer("a"), ["a: outcome is one of ['nothing', 'silent', 'closed', 'reset']"]),
        (answer("a", "name").is_(Name("topic")), ["a: name is $topic"]),
        (answer("a", "id").is_(Ref("b", "made.id", 1)), ["a: id is b's made.id + 1"]),
        (answer("a", "t").at_least(Now()), ["a: t is at least the time of the run"]),
        (answer("a", "rows").is_([{"error_code": 42}]), [
            "a: rows is [{error_code: INVALID_REQUEST (42)}]"
        ]),
        (all_of(REFUSED, size("a").is_(1)), [
            "a: topics[0].error_code is INVALID_REQUEST (42)", "a: size is 1",
        ]),
        (any_of(all_of(size("a").is_(1), size("b").is_(2)), nothing_expected()), [
            "one of these:", "    - a: size is 1", "      b: size is 2", f"    - {NOTHING_MORE}",
        ]),
        (by_release({"1.0-3.9": size("a").is_(1), "4.3+": size("a").is_(2)}), ["a: size is 2"]),
    ],
)  # fmt: skip
def test_an_expectation_is_said_line_by_line(expectation, said):
    assert lines(expectation, "4.3") == said
