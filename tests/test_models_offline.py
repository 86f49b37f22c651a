"""The rule-based model answers real questions over real documents, and owns up where it can't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from graphs.models import OfflineModel
from graphs.models.offline_arithmetic import expression_in
from graphs.models.offline_formula import filled_formula
from graphs.models.offline_hop import entity_for, hop_in
from graphs.models.offline_passages import passages
from graphs.models.offline_plan import sort_tools, split
from graphs.models.offline_reading import best_answers
from graphs.models.offline_words import proper_names, sentences, stems
from tools.calculator import calculator
from tools.search_docs import search_docs


def save_note(text: str) -> str:
    """Store a durable fact about this customer, such as a preference."""
    return f"Saved: {text}"


def failing_search(query: str) -> str:
    """Search the help center."""
    raise ValueError("the index is locked")


Function = Callable[..., str]
ALL: tuple[Function, ...] = (search_docs, calculator, save_note)


def talk(
    question: str, tools: tuple[Function, ...] = ALL, notes: str = "(none)"
) -> tuple[str, list[tuple[str, str]]]:
    """Run the loop of a graph: returns the answer, and the calls with their one argument."""
    by_name = {tool.__name__: tool for tool in tools}
    model = OfflineModel()
    bound = model.bind_tools(list(tools)) if tools else model
    prompt = f"You are a support assistant.\n\nRelevant notes from earlier conversations:\n{notes}"
    messages: list[BaseMessage] = [SystemMessage(prompt), HumanMessage(question)]
    made: list[tuple[str, str]] = []
    for _ in range(6):
        reply = bound.invoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            return str(reply.content), made
        for call in reply.tool_calls:
            (argument,) = call["args"].values()
            made.append((call["name"], argument))
            try:
                result, status = by_name[call["name"]](argument), "success"
            except ValueError as error:
                result, status = str(error), "error"
            messages.append(ToolMessage(result, tool_call_id=str(call["id"]), status=status))
    raise AssertionError(f"no end: {made}")


@pytest.mark.parametrize(
    ("question", "expression", "result"),
    [
        ("What is 240*29/30?", "240*29/30", "232"),
        ("What is 18% of a $250 order?", "18% * 250", "45"),
        ("how much is 3 months at $12?", "3 * 12", "36"),
        ("How much is 12 \u00d7 $24", "12 * 24", "288"),
        ("Multiply 12 by 9", "12 * 9", "108"),
        ("What is 1,200 plus 34?", "1200 + 34", "1234"),
        ("What is 20% off $80?", "80 - 20% * 80", "64"),
        ("average of 3, 4 and 8", "(3 + 4 + 8) / 3", "5"),
        ("What is 18% of $250, plus 7?", "18% * 250 + 7", "52"),
        ("2^10", "2 ** 10", "1024"),
        ("What's 15% tip on $64.20?", "15% * 64.20", "9.63"),
        ("What is $50 plus 10%?", "50 + 10% * 50", "55"),
        ("How much are three Plus plans for a year at $240 each?", "3 * 240", "720"),
        ("What's the square root of 2?", "sqrt(2)", "1.41421356237310 (rounded)"),
    ],
)
def test_a_sum_goes_to_the_calculator_and_its_result_is_the_answer(
    question: str, expression: str, result: str
) -> None:
    answer, made = talk(question)
    assert made == [("calculator", expression)]
    assert answer == f"{expression} = {result}."


@pytest.mark.parametrize(
    "text",
    [
        "What does error E-4042 mean?",
        "Is support open 24/7?",
        "What happened on 2024-06-03?",
        "Does it take 10-20 days?",
        "Call 555-1234 please",
        "Do you accept cash and/or cards?",
        "How long is the 2-year warranty?",
        "Is 50% too much?",
        "What do 5 seats at $3 a month cost?",  # a month, or in all?
        "What is 20% off a $50 order plus $4.95 shipping?",
        "How much for 10 devices at $60 each with 8% off?",
        "",
    ],
)
def test_numbers_that_ask_no_sum_are_no_sum(text: str) -> None:
    assert expression_in(text) is None


def test_a_policy_is_searched_and_quoted_with_the_title_of_its_document() -> None:
    answer, made = talk("How long is the warranty on Initech sport earbuds?")
    assert [name for name, _ in made] == ["search_docs"]
    assert answer.startswith('According to "Initech sport earbuds": ')
    assert "1-year limited warranty" in answer


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What does error E-4042 mean?", "the bank did not approve the charge"),
        ("How much does the Plus plan cost?", "Plus $24"),
        ("Who acquired Acme?", "Acme Corp was acquired by Globex in 2024."),
        ("is there a student discount", "40 % off Plus"),
        ("Do you ship to Japan?", "Japan"),
        ("How do I reset my password?", "Forgot password?"),
        ("How long does shipping take to Germany?", "6 to 10 business days"),
        ("E4042", "the bank did not approve the charge"),
        ("How do refunds work?", "any device within 30 days of delivery"),
        ("Can I return a gift?", '"Returning an item": You have 30 days'),
        ("How much is shipping?", "free for orders from $50"),
        ("How do I delete my account?", "Settings > Privacy > Delete account"),
        ("What does the warranty not cover?", "Accidents: drops"),
        ("My parcel is late. What should I do?", "Wait until two business days"),
        ("I bought a lamp last week. Can I return it?", "Returning an item"),
    ],
)
def test_answers_are_the_documents_own_sentences(question: str, part: str) -> None:
    answer, _ = talk(question)
    assert part in answer
    assert answer.startswith('According to "')


def test_a_question_in_two_hops_searches_for_the_name_first() -> None:
    answer, made = talk(
        "What is the warranty on the earbuds made by the company that acquired Acme?"
    )
    assert made == [
        ("search_docs", "who acquired Acme"),
        ("search_docs", "What is the warranty on the earbuds made by Globex?"),
    ]
    assert "Acme Corp was acquired by Globex in 2024." in answer
    assert 'According to "Globex wireless earbuds"' in answer
    assert "2-year limited warranty" in answer


def test_the_two_hops_are_no_rule_about_earbuds() -> None:
    texts = {
        "who designed the Orbit lamp": "Title: Orbit\n\nThe Orbit lamp was designed by Ada Berg.",
        "What is the birthplace of Ada Berg?": "Title: Ada Berg\n\nHer birthplace is Oslo.",
    }

    def look_up(query: str) -> str:
        """Search the museum's records."""
        return texts.get(query, "No match.")

    question = "What is the birthplace of the person who designed the Orbit lamp?"
    answer, made = talk(question, (look_up,))
    assert [query for _, query in made] == list(texts)
    assert answer == (
        'The Orbit lamp was designed by Ada Berg. According to "Ada Berg": Her birthplace is Oslo.'
    )
    assert hop_in("What is a person who is tall?") is None


def test_a_formula_of_a_document_is_filled_with_the_questions_numbers() -> None:
    answer, made = talk("What is the refund if I cancel my $240 yearly plan with 29 unused days?")
    assert [name for name, _ in made] == ["search_docs", "calculator"]
    assert made[1][1] == "240 * 29 / 30"
    assert answer.startswith('According to "Prorated refunds for plans"')
    assert answer.endswith("= 232.")


REFUND = "refund = price paid \u00d7 unused days \u00f7 30"


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        (
            "If I pay $240 and 29 of 30 days are unused, how much is the prorated refund?",
            "240 * 29 / 30",
        ),
        (
            "A customer paid $240 for a year and has 29 unused days. What refund do they get?",
            "240 * 29 / 30",
        ),
        (
            "The price paid is $240 and 29 of the 30 days are unused. How much is refunded?",
            "240 * 29 / 30",
        ),
        ("I paid $60, 12 unused days. How much refund?", "60 * 12 / 30"),
        (
            "My $60 plan has 12 unused days of 30. What is my prorated refund?",
            "60 * 12 / 30",
        ),
        ("I paid 240 dollars and have 29 days left. What is my refund?", "240 * 29 / 30"),
        ("I used 1 of the 30 days of my $240 plan. What is the refund?", None),
        ("29 days are used of my $240 plan; what is my refund?", None),
        ("What is the refund for my $240 plan with 200 unused days?", None),
        ("What is the refund for $240 when 29 of 365 days are unused?", None),
        ("I paid $240 with a $20 coupon, 10 unused days. What is the refund?", None),
    ],
)
def test_a_number_is_bound_by_its_words_or_not_at_all(
    question: str, expression: str | None
) -> None:
    assert filled_formula(question, [REFUND]) == (expression and (REFUND, expression))
    answer, made = talk(question)
    assert [a for name, a in made if name == "calculator"] == [expression] * bool(expression)
    assert f'According to "Prorated refunds for plans": {REFUND}' in answer
    assert ("I did not calculate it" in answer) is (expression is None)


def test_documents_of_several_things_of_a_kind_each_have_their_say() -> None:
    answer, _ = talk("How long is the warranty on earbuds?")
    assert 'According to "Globex wireless earbuds"' in answer
    assert 'According to "Initech sport earbuds"' in answer


@pytest.mark.parametrize(
    "question",
    [
        "How much is the Pro plan?",
        "How much are 7 seats of the Team plan?",
        "What does E-9999 mean?",
        "Do you accept Bitcoin?",
        "Do you sell phones?",
        "Who is the chief executive of Globex?",
    ],
)
def test_a_name_or_subject_that_no_document_has_is_not_answered_with_another(
    question: str,
) -> None:
    assert talk(question)[0].startswith("I found nothing that answers this.")


def test_mathematics_beyond_the_calculator_is_owned_up_to() -> None:
    answer, made = talk("What is 7 factorial?")
    assert not made
    assert answer.startswith("I can't work that out (What is 7 factorial)")


def test_a_sum_behind_an_and_is_worked_out_too() -> None:
    answer, made = talk("How long do refunds take and 2+2?")
    assert ("calculator", "2+2") in made
    assert answer.endswith("\n\n2+2 = 4.")


def test_a_formula_is_left_alone_where_a_number_is_missing_or_could_be_two() -> None:
    line = "fee = hours parked \u00d7 price per hour"
    assert filled_formula("What is the fee for 3 hours parked at $4?", [line]) == (line, "3 * 4")
    assert filled_formula("What is the fee for parking at $4?", [line]) is None
    assert filled_formula("What is the fee for 3 hours parked, $4 or $5?", [line]) is None
    assert filled_formula("What is the deposit for 3 hours parked at $4?", [line]) is None


def test_a_note_is_saved_in_the_users_words() -> None:
    answer, made = talk("Please remember that I prefer email")
    assert made == [("save_note", "I prefer email")]
    assert answer == "I have noted: I prefer email."


@pytest.mark.parametrize(
    "statement", ["I prefer e-mail.", "Please contact me by e-mail.", "I don't like to be phoned."]
)
def test_a_plain_preference_is_kept_as_a_note(statement: str) -> None:
    assert talk(statement)[1] == [("save_note", statement)]


@pytest.mark.parametrize(
    "text", ["I'd prefer a refund.", "Do you prefer e-mail?", "Call me back when it is sent."]
)
def test_a_request_is_no_preference(text: str) -> None:
    assert "save_note" not in [name for name, _ in talk(text)[1]]


@pytest.mark.parametrize(
    "question",
    [
        "How do I prefer to be contacted?",
        "How should you contact me?",
        "Do I prefer phone or email?",
    ],
)
def test_a_preference_is_recalled_in_other_words(question: str) -> None:
    notes = '- "I prefer e-mail."\n- "My dog is called Rex"'
    assert talk(question, notes=notes) == ("From my notes: I prefer e-mail.", [])


def test_how_to_contact_support_is_no_question_about_the_user() -> None:
    answer, _ = talk("How do I contact support?", notes='- "I prefer e-mail."')
    assert answer.startswith('According to "Contacting support"')


def test_the_parts_of_a_question_are_called_for_at_once_and_answered_in_order() -> None:
    question = "Please note that I prefer email. What is 18% of $250, and how long do refunds take?"
    model = OfflineModel().bind_tools(list(ALL))
    reply = model.invoke(question)
    assert [call["name"] for call in reply.tool_calls] == ["save_note", "calculator", "search_docs"]
    assert len({call["id"] for call in reply.tool_calls}) == 3
    answer, _ = talk(question)
    noted, total, refunds = answer.split("\n\n")
    assert noted == "I have noted: I prefer email."
    assert total == "18% * 250 = 45."
    assert "5 to 10 business days" in refunds


NOTES = '- "I prefer email"\n- "My dog is called Rex"'


def test_notes_of_earlier_conversations_answer_questions_about_the_user() -> None:
    assert talk("What do I prefer?", notes=NOTES) == ("From my notes: I prefer email.", [])
    answer, _ = talk("What do you know about me?", notes=NOTES)
    assert answer == "From my notes: I prefer email; My dog is called Rex."
    answer, made = talk("What do I need for a return?", notes=NOTES)
    assert made
    assert "From my notes" not in answer


def test_what_the_documents_do_not_hold_is_not_invented() -> None:
    answer, made = talk("What is the capital of France?")
    assert [argument for _, argument in made] == [
        "What is the capital of France?",
        "capital France European Union Europe",
    ]
    assert answer.startswith("I found nothing that answers this. I work by fixed rules")


def test_a_tool_that_failed_is_told_and_not_called_for_ever() -> None:
    answer, made = talk("How long do refunds take?", (failing_search,))
    assert 1 <= len(made) <= 2
    assert answer == "I could not look that up: the index is locked"
    answer, made = talk("What is 1/0?")
    assert len(made) == 1
    assert answer.startswith("I could not work out 1/0: ")


def test_with_tools_turned_off_it_answers_from_the_transcript() -> None:
    call = {"name": "search_docs", "args": {"query": "How long do refunds take?"}, "id": "c1"}
    messages: list[BaseMessage] = [
        HumanMessage("How long do refunds take?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(search_docs("How long do refunds take?"), tool_call_id="c1"),
    ]
    reply = OfflineModel().invoke(messages)
    assert not reply.tool_calls
    assert "business days" in str(reply.content)
    assert OfflineModel().bind_tools(list(ALL), tool_choice="none").invoke(messages).content
    assert "I found nothing" in str(OfflineModel().invoke("How long do refunds take?").content)


def test_only_the_newest_question_counts() -> None:
    messages: list[BaseMessage] = [
        HumanMessage("What is 1 + 1?"),
        AIMessage(
            "", tool_calls=[{"name": "calculator", "args": {"expression": "1 + 1"}, "id": "a"}]
        ),
        ToolMessage("2", tool_call_id="a"),
        AIMessage("1 + 1 = 2."),
        HumanMessage([{"type": "text", "text": "What is 2 + 2?"}]),
    ]
    reply = OfflineModel().bind_tools(list(ALL)).invoke(messages)
    assert [call["args"] for call in reply.tool_calls] == [{"expression": "2 + 2"}]


def test_a_finish_tool_takes_the_answer() -> None:
    def finish(answer: str) -> str:
        """End with the answer."""
        return answer

    messages: list[BaseMessage] = [
        HumanMessage("What is 1 + 1?"),
        AIMessage(
            "", tool_calls=[{"name": "calculator", "args": {"expression": "1 + 1"}, "id": "a"}]
        ),
        ToolMessage("2", tool_call_id="a"),
    ]
    reply = OfflineModel().bind_tools([calculator, finish]).invoke(messages)
    assert [(c["name"], c["args"]) for c in reply.tool_calls] == [
        ("finish", {"answer": "1 + 1 = 2."})
    ]


async def test_it_streams_words_says_what_it_is_and_knows_no_usage() -> None:
    model = OfflineModel()
    whole = model.invoke("hello")
    assert whole.response_metadata["model_name"] == "offline"
    assert whole.usage_metadata is None
    chunks = [c.content async for c in model.astream("hello")]
    assert "".join(map(str, chunks)) == whole.content == (await model.ainvoke("hello")).content
    assert len(chunks) > 5
    assert [c.content for c in model.stream("hello")] == chunks


def test_tools_are_told_apart_by_what_they_say() -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool as schema

    def two(a: str, b: str) -> str:
        """Search with two texts."""
        return a + b

    tools = sort_tools([schema(tool) for tool in (two, save_note, search_docs, calculator)])
    assert tools.search
    assert tools.sum
    assert tools.note
    assert (tools.search.name, tools.search.parameter) == ("search_docs", "query")
    assert (tools.sum.name, tools.note.name, tools.finish) == ("calculator", "save_note", None)


def test_sentences_keep_abbreviations_and_decimals_together() -> None:
    text = "It costs 2.50 e.g. Today. Open from 8 a.m. Monday. Done"
    assert sentences(text) == ["It costs 2.50 e.g. Today.", "Open from 8 a.m. Monday.", "Done"]


def test_words_that_mean_the_same_meet() -> None:
    assert stems("refunds") == stems("refunded") == stems("the refund")
    assert stems("What is the yearly price?") == stems("annual prices")
    assert "E-4042" in proper_names("What does E-4042 mean?")


def test_results_in_other_shapes_are_read_too() -> None:
    (plain,) = passages("Tea costs 3. Coffee costs 4.")
    assert plain.title == ""
    assert passages("No results found for tea.") == []
    (found,) = best_answers("What does tea cost?", ["Tea costs 3. Coffee costs 4."])
    assert found.text.startswith("Tea costs 3.")
    table = "Title: Prices\n\n| | Tea | Coffee |\n| --- | --- | --- |\n| Price | 3 | 4 |"
    (found,) = best_answers("What is the price of tea?", [table])
    assert found.text == "Price: Tea 3, Coffee 4."


def test_an_entity_is_no_month_and_no_part_of_the_known_name() -> None:
    text = "Title: A\n\nAcme Corp was acquired in June by Globex."
    found = entity_for("acquired Acme", [text], "Who made it?")
    assert found
    assert found[0] == "Globex"
    assert entity_for("acquired Initech", [text], "") is None


def test_a_greeting_is_not_searched_for() -> None:
    assert split("Hello!") == []
    answer, made = talk("Hello!")
    assert not made
    assert answer.startswith("Ask me something")


def test_without_the_tool_for_it_the_answer_says_so() -> None:
    answers: dict[str, Any] = {
        "What is 1 + 1?": "I can't calculate here.",
        "Please remember that I prefer email": "I can't keep notes here.",
    }
    for question, expected in answers.items():
        assert talk(question, (search_docs,)) == (expected, [])


BIRTHPLACES = {
    "who designed the Orbit lamp": "Title: Orbit\n\nThe Orbit lamp was designed by Ada Berg.",
    "who taught Ada Berg": "Title: Teachers\n\nAda Berg was taught by Olaf Lind.",
    "What is the birthplace of Olaf Lind?": "Title: Olaf Lind\n\nHis birthplace is Oslo.",
}
NESTED = "What is the birthplace of the person who taught the person who designed the Orbit lamp?"


def look_up(query: str) -> str:
    """Search the museum's records."""
    return BIRTHPLACES.get(query, "No match.")


def test_clauses_within_clauses_are_resolved_from_the_innermost() -> None:
    answer, made = talk(NESTED, (look_up,))
    assert [query for _, query in made] == list(BIRTHPLACES)
    assert answer.endswith('According to "Olaf Lind": His birthplace is Oslo.')


def test_with_tools_turned_off_before_the_last_hop_the_answer_says_what_is_missing() -> None:
    first, second = list(BIRTHPLACES)[:2]
    call = {"name": "look_up", "args": {"query": first}, "id": "c1"}
    messages: list[BaseMessage] = [
        HumanMessage(NESTED),
        AIMessage("", tool_calls=[call]),
        ToolMessage(BIRTHPLACES[first], tool_call_id="c1"),
    ]
    answer = str(OfflineModel().invoke(messages).content)
    assert answer.startswith("Incomplete: I found that The Orbit lamp was designed by Ada Berg")
    assert f'a search for "{second}"' in answer
    sum_of = [HumanMessage("What is 2 + 2?"), *messages[1:]]
    assert str(OfflineModel().invoke(sum_of).content).startswith("Incomplete:")


def test_a_call_that_is_demanded_is_made_though_none_is_needed() -> None:
    reply = OfflineModel().bind_tools([look_up], tool_choice="any").invoke("What is 2 + 2?")
    assert [call["name"] for call in reply.tool_calls] == ["look_up"]
