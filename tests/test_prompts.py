"""Templates: one syntax, a single pass, and every mistake found when the graph is built."""

from pathlib import Path

import pytest

import prompts
from prompts import TemplateError, parse


def test_a_placeholder_in_double_braces_is_filled_and_leaves_no_brace_pair() -> None:
    """Case TPL-01."""
    template = parse("You work for {{company}}.", names={"company"})
    assert template.render(company="Fjord Tea") == "You work for Fjord Tea."


@pytest.mark.parametrize("text", ["{{compny}}", "{{company}} {{other}}"])
def test_an_unknown_placeholder_fails_when_the_template_is_parsed(text: str) -> None:
    with pytest.raises(TemplateError, match="unknown placeholder"):
        parse(text, names={"company"})


def test_a_missing_placeholder_fails_when_the_template_is_parsed() -> None:
    with pytest.raises(TemplateError, match=r"\{\{memory_notes\}\} is missing"):
        parse("{{company}}", names={"company", "memory_notes"})


@pytest.mark.parametrize(
    "text",
    ["{{cfg.api_key}}", "{{0}}", "{{a[0]}}", "{{ company }}", "{{}}", "{{company}} }}", "{{ {{"],
)
def test_attribute_index_and_half_braces_are_refused(text: str) -> None:
    """Case TPL-05."""
    with pytest.raises(TemplateError):
        parse(text, names={"company"})


def test_single_braces_stay_literal_and_read_no_attribute() -> None:
    """Case TPL-05: what str.format would look up is plain text here."""
    template = parse("{cfg.api_key} {0.__class__} {{company}}", names={"company"})
    assert template.render(company="x") == "{cfg.api_key} {0.__class__} x"


def test_a_value_with_braces_is_not_filled_again() -> None:
    template = parse("{{company}} {{memory_notes}}", names={"company", "memory_notes"})
    assert template.render(company="{{memory_notes}}", memory_notes="n") == "{{memory_notes}} n"


def test_a_value_that_is_not_given_is_named() -> None:
    with pytest.raises(TemplateError, match=r"no value for \{\{company\}\}"):
        parse("{{company}}", names={"company"}).render()


def test_a_prompt_that_does_not_exist_is_named() -> None:
    with pytest.raises(TemplateError, match=r"prompts/nothing\.md"):
        prompts.load("nothing", names=())


def test_the_shipped_prompts_are_read_from_beside_the_module() -> None:
    folder = Path(prompts.__file__).parent
    text = (folder / "system_prompt_with_tools.md").read_text(encoding="utf-8")
    assert text.startswith("You are a support assistant for {{company}}.")
    assert prompts.load(
        "system_prompt_with_tools", names={"company", "memory_notes"}
    ).text == text.rstrip("\n")
