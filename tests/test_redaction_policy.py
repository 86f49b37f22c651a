"""What a tools file says of redaction, and card numbers and addresses, in runs and alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs.models import ScriptedModel
from tests.support import ALL_MODES, Mode, compiled, result_for, run
from tools import ToolsFileError, load_tools, redact, redact_data
from tools.personal_rules import is_card_number
from tools.redact import Filter, in_force
from tools.redaction_policy import DEFAULT_POLICY, RedactionPolicy, read_policy
from tools.redactor import redactor_for

TOOL = '[read_only.calculator]\nuse = "tools.calculator:calculator"\n'
CALL = {"tool_calls": [{"id": "c1", "name": "look_up", "args": {"name": "bob"}}]}


def policy(**table: Any) -> RedactionPolicy:
    return read_policy("tools.toml", table)


def under(made: RedactionPolicy, own: set[str] | None = None) -> Any:
    return in_force(Filter(redactor_for(made), None if own is None else lambda: own))


@pytest.mark.parametrize(
    "number",
    [
        *("4111 1111 1111 1111", "4111-1111-1111-1111", "5555555555554444", "378282246310005"),
        *("3782 822463 10005", "6011111111111117", "30569309025904", "3530111333300000"),
        *("2223003122003222", "6200000000000005"),
    ],
)
def test_a_card_number_goes_in_text_and_in_data(number: str) -> None:
    assert redact(f"paid with {number}.") == "paid with [redacted]."
    assert redact_data({"card": int(number.replace(" ", "").replace("-", ""))}) == {
        "card": "[redacted]"
    }


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",  # fails the Luhn check
        "order 1234567890123456, 1764532800000 ms",
        "41111111111111110",  # a digit more
        "0.4111111111111111 and 4111111111111111.5",
        "f4111111111111111a",
        "4111 1111 1111, 4111-1111 1111-1111",
    ],
)
def test_other_long_numbers_stay(text: str) -> None:
    assert redact(text) == text


@settings(deadline=None)
@given(st.from_regex(r"4[0-9]{14}", fullmatch=True))
def test_exactly_one_last_digit_makes_a_card_number(digits: str) -> None:
    assert sum(is_card_number(f"{digits}{last}") for last in range(10)) == 1


def test_addresses_of_others_go_and_those_of_the_user_and_of_roles_stay() -> None:
    text = "Ann@Mail.example, <bob@mail.example>; support@globex.example mailto:eve@x.example?s"
    with under(DEFAULT_POLICY, {"ann@mail.example"}):
        assert redact(text) == (
            "Ann@Mail.example, <[redacted]>; support@globex.example mailto:[redacted]?s"
        )
        for clean in ("@decorator pkg@1.2.3", "ssh://git@x.example:22/a", "https://u@x.example/"):
            assert redact(clean) == clean
    assert redact(text) == text  # outside of a run


@pytest.mark.parametrize(
    "text",
    [
        "logo@2x.png and icons/icon@3x.webp, a@1.5x.PDF",
        "Formula python@3.11.rb, node@20.rb",
        "@ann@social.example wrote; (@bob@x.example)",
        "100%40 and a%40b",
    ],
)
def test_names_of_files_and_versions_and_handles_are_no_addresses(text: str) -> None:
    with under(DEFAULT_POLICY, set()):
        assert redact(text) == text


def test_an_address_in_a_url_is_one_too() -> None:
    text = "https://x.example/?q=bob%40acme.example&r=Ann%40mail.example&s=info%40x.example"
    with under(DEFAULT_POLICY, {"ann@mail.example"}):
        assert redact(text) == text.replace("bob%40acme.example", "[redacted]")
        assert redact("bob@2x.example.org") == "[redacted]"


def test_fields_patterns_and_allowed_texts_come_from_the_tools_file(tmp_path: Path) -> None:
    file = tmp_path / "tools.toml"
    file.write_text(
        TOOL
        + '[redaction]\nfields = ["dateOfBirth"]\nallow = ["*@globex.example", "sk-test-*"]\n'
        + "[redaction.patterns]\nssn = '\\b\\d{3}-\\d{2}-\\d{4}\\b'\n"
    )
    (made,) = load_tools(file)
    with under(made.redaction, set()):
        found: dict[str, int] = {}
        text = redact("SSN 123-45-6789, sk-test-12345678, ann@globex.example, a@x.example", found)
        assert text == "SSN [redacted], sk-test-12345678, ann@globex.example, [redacted]"
        assert found == {"ssn": 1, "email": 1}
        data = {"date_of_birth": {"year": 1980}, "rows": [{"Date-Of-Birth": 19800101, "n": 1}]}
        assert redact_data(data) == {
            "date_of_birth": "[redacted]",
            "rows": [{"Date-Of-Birth": "[redacted]", "n": 1}],
        }
        assert redact('{"dateOfBirth": 1980, "n": 1}') == '{"dateOfBirth": [redacted], "n": 1}'
        assert redact("date_of_birth=1980-01-02&n=1") == "date_of_birth=[redacted]&n=1"
        assert redact("Date of birth: 1990-01-02") == "Date of birth: [redacted]"
        assert redact("| Name | DATE OF BIRTH |\n|-|-|\n| Ann | 1 May |").endswith(
            "Ann | [redacted] |"
        )
        assert redact("The date of birth: see above") == "The date of birth: see above"


@pytest.mark.parametrize(
    ("table", "where", "reason"),
    [
        ({"patterns": {"bad": "(a"}}, "redaction.patterns", "bad is no RE2 pattern: missing ): (a"),
        ({"patterns": {"look": "(?=a)b"}}, "redaction.patterns", "look is no RE2 pattern: inval"),
        ({"patterns": {"back": r"(a)\1"}}, "redaction.patterns", "back is no RE2 pattern: invalid"),
        ({"patterns": {"any": "x*"}}, "redaction.patterns", "any matches the empty text"),
        ({"patterns": {"dot": r"\S+"}}, "redaction.patterns", "dot matches '[redacted]'"),
        ({"patterns": {"big": "((a{99}){99}){9}"}}, "redaction.patterns", "big is no RE2 pattern"),
        ({"patterns": {"Big Name": "a"}}, "redaction.patterns", "must be a name in lower case"),
        ({"patterns": {"n": 1}}, "redaction.patterns", "n must be text"),
        ({"patterns": ["a"]}, "redaction.patterns", "must be a table of name = 'pattern'"),
        ({"fields": "ssn"}, "redaction", "fields must be a list of texts"),
        ({"fields": ["--"]}, "redaction", "fields must hold names of letters and digits"),
        ({"allow": ["*"]}, "redaction", "allow must not hold '*' alone"),
        ({"field": ["ssn"]}, "redaction", "unknown key 'field'; did you mean 'fields'?"),
        ([1], "redaction", "must be a table"),
    ],
)
def test_a_bad_redaction_table_ends_with_file_table_and_reason(
    table: Any, where: str, reason: str
) -> None:
    with pytest.raises(ToolsFileError) as caught:
        read_policy("tools.toml", table)
    said = str(caught.value)
    assert said.startswith(f"tools.toml: [{where}]: ")
    assert reason in said
    assert "\n" not in said


def test_the_table_of_a_real_file_is_refused_in_the_same_words(tmp_path: Path) -> None:
    file = tmp_path / "tools.toml"
    file.write_text(f"{TOOL}[redaction.patterns]\nbad = '(a'\n")
    with pytest.raises(ToolsFileError, match=r"\[redaction.patterns\]: bad is no RE2 pattern"):
        load_tools(file)


def test_a_pattern_that_needs_exponential_time_elsewhere_is_linear_here() -> None:
    with under(policy(patterns={"slow": "(?:a+)+b"})):
        assert redact("a" * 100_000) == "a" * 100_000
        assert redact(f"{'a' * 100_000}b") == "[redacted]"


def test_two_files_together_hide_what_either_does_and_allow_what_both_do() -> None:
    one = policy(fields=["ssn"], allow=["a*", "b*"])
    other = policy(patterns={"x": "xx"}, allow=["b*"])
    both = one | other
    assert both.fields == {"ssn"}
    assert both.patterns == (("x", "xx"),)
    assert both.allow == ("b*",)


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_result_is_filtered_before_the_model_sees_it_and_what_was_caught_is_counted(
    mode: Mode,
) -> None:
    def look_up(name: str) -> dict[str, Any]:
        """Look a customer up."""
        return {
            "email": f"{name}@mail.example",
            "mine": "ann@mail.example",
            "card": 4111111111111111,
            "auth_token": "abc123",
            "note": "key sk-live-99",
        }

    model = ScriptedModel(replies=[CALL, "done"])
    graph = compiled(model, [look_up])
    ended = run(mode, graph, "I am ann@mail.example: look bob up")
    seen = json.loads(model.requests[1].messages[-1].text)
    assert seen == {
        "email": "[redacted]",
        "mine": "ann@mail.example",
        "card": "[redacted]",
        "auth_token": "[redacted]",
        "note": "key [redacted]",
    }
    result = result_for(ended["messages"], "c1")
    assert json.loads(result.text) == seen
    caught = {"credential": 2, "card": 1, "email": 1}
    assert result.additional_kwargs["redacted"] == caught
    assert ended["usage"]["redacted"] == caught


@pytest.mark.parametrize(
    "context", [{"user_id": "bob@mail.example"}, {"user_email": "Bob@mail.example"}]
)
def test_the_run_knows_its_own_users_address(context: dict[str, str]) -> None:
    def look_up(name: str) -> str:
        """Look a customer up."""
        return f"{name}@mail.example, eve@mail.example"

    model = ScriptedModel(replies=[CALL, "done"])
    ended = run("invoke", compiled(model, [look_up]), "Who am I?", context=context)
    assert result_for(ended["messages"], "c1").text == "bob@mail.example, [redacted]"
    plain = run("invoke", compiled(ScriptedModel(replies=[CALL, "done"]), [look_up]), "Who am I?")
    assert result_for(plain["messages"], "c1").text == "[redacted], [redacted]"
    assert "redacted" in plain["usage"]
