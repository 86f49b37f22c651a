"""Arguments: strict reading, lossless coercion, defaults, and errors that name the field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.arguments import ArgumentsError, clean, normalize, parse_arguments, validate

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=15,
)
objects = st.dictionaries(text, values, max_size=5)


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def broken(raw: str) -> str:
    with pytest.raises(ArgumentsError) as caught:
        parse_arguments(raw)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- reading ---------------------------------------------------------------------------------


@given(objects)
def test_every_json_object_is_read_as_it_was_written(value: dict[str, Any]) -> None:
    assert parse_arguments(json.dumps(value)) == value
    assert parse_arguments(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(objects, st.data())
def test_every_object_that_is_cut_off_is_an_error(value: dict[str, Any], data: Any) -> None:
    raw = json.dumps(value)
    cut = data.draw(st.integers(1, len(raw) - 1))
    broken(raw[:cut])


def test_a_cut_off_string_is_said_to_end_in_the_middle_of_a_string() -> None:
    """Case ARG-01."""
    assert broken('{"city": "Par') == (
        "the text of the arguments is not complete JSON: it ends in the middle of a string"
        " that begins at line 1, column 10 (character 9)"
    )


@pytest.mark.parametrize(
    "raw", ['{"ids":[101,102', '{"a":', '{"a"', "{", '{"a":1,', '{"a":tr', '{"a":1.', '{"a":"\\u12']
)
def test_a_cut_off_value_is_said_to_be_incomplete(raw: str) -> None:
    """Case ARG-03, and every other place at which a reply can end."""
    assert "is not complete JSON" in broken(raw)


@pytest.mark.parametrize("raw", ["", "  \n", "null"])
def test_no_text_is_no_arguments_so_that_what_is_missing_gets_named(raw: str) -> None:
    """Case ARG-09."""
    assert parse_arguments(raw) == {}
    assert validate({}, schema(("order",), order={"type": "string"})) == [
        "is missing required argument 'order'"
    ]


def test_two_objects_glued_together_are_an_error_not_the_first_of_them() -> None:
    assert "goes on after its end at line 1, column 11" in broken('{"p": "a"}{"p": "b"}')


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"a": 1, "a": 2}', 'gives the key "a" twice'),
        ('{"b": {"a": 1, "a": 1}}', 'gives the key "a" twice'),
        ('{"a": NaN}', "holds NaN"),
        ('{"a": -Infinity}', "holds -Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "9" * 5000 + "}", "5,000 digits"),
        ('{"a": 18446744073709551616}', "beyond 64 bits"),
        ('{"a":' * 200_000, "nested too deeply"),
        ('{"a":' * 150 + "1" + "}" * 150, "deeper than 100 levels"),
        ("[1]", "must be one JSON object, got an array"),
        ("42", "got a number"),
        ("true", "got a boolean"),
        ('"go"', "got a string"),
        ("{'a': 1}", "is not JSON"),
        ("{bad", 'line 1, column 2 (character 1), near "bad"'),
        ('{"a": 1} and more', "goes on after its end"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_what_is_no_json_object_is_an_error_that_says_why(raw: str, said: str) -> None:
    assert said in broken(raw)


def test_arguments_encoded_twice_are_decoded_once_and_no_more() -> None:
    once = json.dumps(json.dumps({"city": "Oslo"}))
    assert parse_arguments(once) == {"city": "Oslo"}
    assert "got a string" in broken(json.dumps(once))
    assert "not complete" in broken(json.dumps('{"city": "Os'))


def test_an_error_does_not_quote_a_credential() -> None:
    assert "sk-live-9" not in broken('{"a": 1} password=sk-live-9')


def test_lone_surrogates_are_replaced_and_nul_is_removed_but_pairs_stay() -> None:
    """Case ARG-19."""
    assert parse_arguments('{"t":"fish \\ud83c end"}') == {"t": "fish \ufffd end"}
    assert parse_arguments('{"t":"\\ud83c\\udf78 a\\u0000b"}') == {"t": "\U0001f378 ab"}
    assert parse_arguments('{"\\ud83c":["\\udf78"]}') == {"\ufffd": ["\ufffd"]}


@given(st.dictionaries(st.text(st.characters()), st.text(st.characters()), max_size=4))
def test_clean_arguments_can_always_be_encoded(value: dict[str, str]) -> None:
    try:
        cleaned = clean(value)
    except ArgumentsError:  # two keys became one
        return
    json.dumps(cleaned, ensure_ascii=False).encode()
    assert "\0" not in "".join([*cleaned, *cleaned.values()])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**64, {1, 2}, {1: 2}, b"x"])
def test_values_that_no_checkpoint_or_request_can_hold_are_errors(value: Any) -> None:
    with pytest.raises(ArgumentsError):
        clean({"a": value})


# --- coercion --------------------------------------------------------------------------------


def test_text_is_decoded_only_where_the_schema_forbids_text() -> None:
    """Case ARG-05."""
    tags = {"type": "array", "items": {"type": "string"}}
    given_ = {"tags": '["a","b"]', "note": "[1]"}
    assert normalize(given_, schema(tags=tags, note={"type": "string"})) == {
        "tags": ["a", "b"],
        "note": "[1]",
    }


def test_a_cut_off_inner_text_stays_text_and_is_refused_by_name() -> None:
    """Case ARG-05."""
    s = schema(tags={"type": "array", "items": {"type": "string"}})
    given_ = normalize({"tags": '["a","b'}, s)
    assert validate(given_, s) == ['argument \'tags\' must be array, got string "[\\"a\\",\\"b"']


def test_false_sent_as_text_is_false_and_a_text_field_keeps_it() -> None:
    """Case ARG-11."""
    s = schema(id={"type": "integer"}, all={"type": "boolean"}, label={"type": "string"})
    assert normalize({"id": 7, "all": "false", "label": "false"}, s) == {
        "id": 7,
        "all": False,
        "label": "false",
    }
    assert normalize({"all": "False"}, s) == {"all": False}
    assert normalize({"all": "yes"}, s) == {"all": "yes"}


@pytest.mark.parametrize(
    ("kind", "sent", "kept"),
    [
        ("integer", "4", 4),
        ("integer", "-4", -4),
        ("integer", "4.0", 4),
        ("integer", 4.0, 4),
        ("number", "0.1", 0.1),
        ("number", "4", 4),
        ("number", 4.0, 4.0),
        ("array", "[1, 2]", [1, 2]),
        ("object", '{"a": {}}', {"a": {}}),
        (["integer", "null"], "null", None),
        ("integer", "4.5", "4.5"),
        ("integer", "four", "four"),
        ("integer", "$240", "$240"),
        ("integer", "007", "007"),
        ("integer", "+4", "+4"),
        ("integer", "", ""),
        ("integer", True, True),
        ("integer", "true", "true"),
        ("integer", "18446744073709551616", "18446744073709551616"),
        ("integer", 1e300, 1e300),
        ("integer", "\u0664", "\u0664"),
        ("number", "0.10000000000000000001", "0.10000000000000000001"),
        ("number", "NaN", "NaN"),
        ("number", "1e999", "1e999"),
        ("object", '{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("string", 42, 42),
    ],
)
def test_a_value_is_coerced_where_nothing_is_lost_and_left_alone_otherwise(
    kind: Any, sent: Any, kept: Any
) -> None:
    result = normalize({"v": sent}, schema(("v",), v={"type": kind}))["v"]
    assert result == kept
    assert type(result) is type(kept)


def test_texts_among_the_allowed_values_are_texts() -> None:
    s = schema(a={"enum": ["1", "2"]}, b={"enum": [1, 2]}, c={"const": "true"})
    assert normalize({"a": "1", "b": "1", "c": "true"}, s) == {"a": "1", "b": 1, "c": "true"}


@given(text | values)
def test_a_value_whose_schema_allows_text_is_never_changed(value: Any) -> None:
    for allowing in (
        {"type": "string"},
        {},
        {"type": ["integer", "string"]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"$ref": "#/$defs/T"},
        {"allOf": [{"$ref": "#/$defs/T"}]},
        {"enum": ["a", 1]},
    ):
        s = schema(("v",), v=allowing) | {"$defs": {"T": {"type": "string"}}}
        result = normalize({"v": value}, s)["v"]
        if isinstance(value, str):
            assert result == value
            assert type(result) is str


def test_null_for_an_optional_field_that_is_not_nullable_is_the_field_left_out() -> None:
    """Case ARG-13."""
    s = schema(("a",), a={"type": "integer"}, b={"type": "integer", "default": 2})
    assert normalize({"a": 3, "b": None}, s) == {"a": 3, "b": 2}
    assert normalize({"a": None}, s)["a"] is None
    nullable = schema(b={"type": ["integer", "null"], "default": 2})
    assert normalize({"b": None}, nullable) == {"b": None}


def test_defaults_are_filled_in_also_in_nested_objects_that_were_sent() -> None:
    """Case ARG-17."""
    s = schema(
        ("q",),
        q={"type": "string"},
        limit={"type": "integer", "default": 20},
        opt={"type": "object", "properties": {"lang": {"type": "string", "default": "en"}}},
    )
    assert normalize({"q": "tea"}, s) == {"q": "tea", "limit": 20}
    assert normalize({"q": "tea", "opt": {}}, s)["opt"] == {"lang": "en"}
    assert normalize({"q": "", "limit": 0, "opt": {"lang": ""}}, s) == {
        "q": "",
        "limit": 0,
        "opt": {"lang": ""},
    }


def test_defaults_are_filled_in_through_references_arrays_and_the_branch_that_is_meant() -> None:
    item = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    cat = schema(("kind",), kind={"const": "cat"}, lives={"type": "integer", "default": 9})
    dog = schema(("kind",), kind={"const": "dog"}, tricks={"type": "array", "default": []})
    s = schema(
        items={"type": "array", "items": {"$ref": "#/$defs/I"}},
        maybe={"anyOf": [{"$ref": "#/$defs/I"}, {"type": "null"}]},
        pet={"anyOf": [{"oneOf": [cat, dog]}, {"type": "null"}]},
    ) | {"$defs": {"I": item}}
    assert normalize({"items": [{}, {"n": "2"}], "maybe": {}, "pet": {"kind": "cat"}}, s) == {
        "items": [{"n": 1}, {"n": 2}],
        "maybe": {"n": 1},
        "pet": {"kind": "cat", "lives": 9},
    }
    assert normalize({"pet": {"kind": "dog"}}, s)["pet"] == {"kind": "dog", "tricks": []}


def test_a_default_that_its_own_schema_refuses_is_not_filled_in() -> None:
    s = schema(
        a={"type": "string", "default": None}, b={"type": "integer", "minimum": 1, "default": 0}
    )
    assert normalize({}, s) == {}


def test_a_default_is_never_shared_between_calls() -> None:
    s = schema(tags={"type": "array", "default": []})
    first = normalize({}, s)
    first["tags"].append("x")
    assert normalize({}, s) == {"tags": []}


def test_what_the_model_sent_is_left_as_it_was() -> None:
    sent = {"v": {"n": "1"}}
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert normalize(sent, schema(v=inner)) == {"v": {"n": 1}}
    assert sent == {"v": {"n": "1"}}


# --- validation ------------------------------------------------------------------------------


def test_an_unknown_argument_is_refused_by_name_with_the_names_there_are() -> None:
    """Case ARG-15."""
    s = schema(topic={"type": "string", "default": ""})
    assert validate(normalize({"path": "intro"}, s), s) == [
        "does not take argument 'path'; it takes: topic"
    ]
    assert validate({"path": "intro"}, s | {"additionalProperties": True}) == []


@pytest.mark.parametrize("sent", ["Topic", "topics", "topi", "tpoic"])
def test_for_a_near_miss_the_right_name_is_given(sent: str) -> None:
    assert f"'{sent}' (did you mean 'topic'?)" in validate({sent: 1}, schema(topic={}))[0]


@pytest.mark.parametrize(
    ("field", "sent", "said"),
    [
        ({"type": "string"}, 42, "must be string, got integer 42"),
        ({"type": "integer"}, True, "must be integer, got boolean true"),
        ({"type": "integer"}, 4.5, "must be integer, got number 4.5"),
        ({"type": "string"}, None, "must be string, got null"),
        ({"type": ["integer", "null"]}, "x", 'must be integer or null, got string "x"'),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "x",
            'must be integer or null, got string "x"',
        ),
        ({"enum": ["a", "b"]}, "c", 'must be one of "a", "b", got string "c"'),
        ({"minimum": 1}, 0, "must be at least 1, got integer 0"),
        ({"exclusiveMaximum": 5}, 5, "must be less than 5, got integer 5"),
        ({"maxLength": 2}, "abc", 'must be text of at most 2 characters, got string "abc"'),
        ({"minItems": 1}, [], "must be an array of at least 1 items, got array []"),
        ({"pattern": "^a"}, "b", 'must be text that matches the pattern "^a", got string "b"'),
        ({"format": "date"}, "soon", 'must be a date as YYYY-MM-DD, got string "soon"'),
        ({"const": 1}, 2, "must be 1, got integer 2"),
    ],
)
def test_an_error_says_what_was_expected_and_what_came(
    field: dict[str, Any], sent: Any, said: str
) -> None:
    assert validate({"v": sent}, schema(v=field)) == [f"argument 'v' {said}"]


def test_a_fault_inside_an_argument_is_named_by_its_path() -> None:
    team = schema(("team",), team={"type": "integer"})
    s = schema(q=team, l={"type": "array", "items": team})
    faults = validate({"q": {}, "l": [{"team": 1}, {"team": "x"}, {"team": 1, "teem": 2}]}, s)
    assert "argument 'q' is missing required field 'team'" in faults
    assert "argument 'l[1].team' must be integer, got string \"x\"" in faults
    assert any(f.startswith("argument 'l[2]' does not take field 'teem'") for f in faults)


def test_of_a_union_the_branch_that_was_meant_is_told() -> None:
    s = schema(v={"anyOf": [{"type": "null"}, schema(("n",), n={"type": "integer"})]})
    assert validate({"v": {"n": "x"}}, s) == ["argument 'v.n' must be integer, got string \"x\""]


def test_quoted_values_and_lists_of_faults_are_bounded() -> None:
    s = schema((), **{f"f{i}": {"type": "integer"} for i in range(50)})
    faults = validate({f"f{i}": "x" * 10_000 for i in range(50)}, s)
    assert len(faults) == 6
    assert faults[-1] == "and 45 more faults"
    assert max(map(len, faults)) < 150


def test_the_value_of_a_field_with_a_secret_name_is_not_quoted() -> None:
    assert validate({"password": 1234}, schema(password={"type": "string"})) == [
        "argument 'password' must be string, got integer"
    ]


@pytest.mark.parametrize("sent", ["2026-01-02T03:04:05", "2026-01-02T03:04:05Z", "2026-01-02"])
def test_a_time_needs_no_offset(sent: str) -> None:
    assert validate({"v": sent}, schema(v={"type": "string", "format": "date-time"})) == []
