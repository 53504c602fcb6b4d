"""JAAS configurations: what they say, and in which words Kafka's JaasConfig refuses them."""

import pytest

from touchstone.reference_impl.security.jaas import parse

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{PLAIN} required;", {}),
        (f'{PLAIN} required user_a="b";', {"user_a": "b"}),
        (f"{PLAIN} REQUIRED\n  user_a='b'\n  user_c=d;\n", {"user_a": "b", "user_c": "d"}),
        (f'{PLAIN} optional user_a = "b;=\\"c\\\\" ;', {"user_a": 'b;="c\\'}),
        (f'/* why */ {PLAIN} required // because\n a="\\101\\n";', {"a": "A\n"}),
        (f'{PLAIN} required a=";" b="=";', {"a": ";", "b": "="}),
    ],
)
def test_options_are_read(text, options):
    assert parse(text) == (PLAIN, options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Login module not specified in JAAS config"),
        (PLAIN, "Login module control flag not specified in JAAS config"),
        (f"{PLAIN} always;", "Invalid login module control flag 'always' in JAAS config"),
        (f"{PLAIN} required a;", "Value not specified for key 'a' in JAAS config"),
        (f"{PLAIN} required a=;", "Value not specified for key 'a' in JAAS config"),
        (f"{PLAIN} required", "JAAS config entry not terminated by semi-colon"),
        (f"{PLAIN} required a=b", "JAAS config entry not terminated by semi-colon"),
        (f"{PLAIN} required; {PLAIN} required;", "contains 2 login modules, should be 1 module"),
        (f'{PLAIN} required a="', "cannot read the JAAS config"),
    ],
)
def test_what_is_none_is_refused(text, words):
    with pytest.raises(ValueError) as refused:
        parse(text)
    assert words in str(refused.value)
