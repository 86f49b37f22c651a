"""The offline controller fills a record by rules, and leaves out what the text does not give."""

from datetime import date
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from graphs.forced_output import build
from graphs.models import OfflineModel, resolve
from graphs.support_request import SupportRequest
from tests.support import ALL_MODES, Mode, run
from tools.record import record_tool

LETTER = """Hello there,

I bought the Plus plan on 3 March 2026 for $240 and want my money back. It is urgent.

Kind regards,
Ann Lee
ann.lee@example.com"""


def filled(schema: Any, text: str) -> dict[str, Any]:
    """Fill a record from a text; fields that are null count as left out."""
    tool = record_tool(schema, name="record_it", description="Record it.")
    bound = OfflineModel().bind_tools([tool.openai()], tool_choice="record_it")
    (call,) = bound.invoke(text).tool_calls
    assert call["name"] == "record_it"
    return {name: value for name, value in call["args"].items() if value is not None}


@pytest.mark.parametrize("mode", ALL_MODES)
def test_a_letter_becomes_a_record_and_the_usage_says_what_filled_it(mode: Mode) -> None:
    output = run(mode, build(model="offline").compile(), LETTER)
    assert output["status"] == "record"
    assert output["record"] == {
        "customer": "Ann Lee",
        "email": "ann.lee@example.com",
        "plan": "plus",
        "plan_price": 240,
        "plan_start": "2026-03-03",
        "category": "refund",
        "urgency": "high",
        "summary": "I bought the Plus plan on 3 March 2026 for $240 and want my money back.",
    }
    assert "not a language model" in output["usage"]["model"]


CATEGORIES = [
    ("My invoice is wrong.", "billing"),
    ("Please cancel it.", "cancellation"),
    ("The app crashes and is slow.", "technical"),
    ("I forgot my password.", "account"),
    ("Do you have an office in Oslo?", "other"),
]


@pytest.mark.parametrize(("text", "category"), CATEGORIES)
def test_an_allowed_value_is_chosen_by_its_name_and_the_words_described(
    text: str, category: str
) -> None:
    assert filled(SupportRequest, text)["category"] == category


@pytest.mark.parametrize("text", ["No.", "03/04/2025", "Wie bitte?", "It costs 5 or 6."])
def test_nothing_is_made_up(text: str) -> None:
    found = filled(SupportRequest, text)
    assert found.keys() <= {"category", "urgency", "summary"}
    assert resolve("offline").invoke(text).tool_calls == []


class Guest(BaseModel):
    name: str = Field(description="The guest's name.")
    age: int | None = Field(default=None, description="The age in years.")


class Booking(BaseModel):
    """Record a booking."""

    guest: Guest = Field(description="Who stays.")
    arrival: date = Field(description="The day of arrival.")
    departure: date = Field(description="The day of departure.")
    nights: int = Field(description="How many nights.")
    total: float | None = Field(default=None, description="The total price.")
    code: str | None = Field(default=None, pattern="^BK[0-9]{4}$", description="The code.")
    pets: bool | None = Field(default=None, description="Whether pets come.")
    wishes: list[str] = Field(default=[], description="What is wished for.")
    rooms: list[Literal["single", "double"]] = Field(description="The kinds of room.")
    note: str | None = Field(default=None, description="Anything that was noted.")


BOOKING = """This is Bo K. Chen, my age is 41.
Arrival on 2026-05-01, departure May 4th, 2026, which is 3 nights in a double room.
The total comes to $1,200.50. My code is BK2044.
Pets: yes
Wishes: a crib, late check-in"""


def test_nested_fields_dates_numbers_codes_and_lists_are_found_beside_their_names() -> None:
    assert filled(Booking, BOOKING) == {
        "guest": {"name": "Bo K. Chen", "age": 41},
        "arrival": "2026-05-01",
        "departure": "2026-05-04",
        "nights": 3,
        "total": 1200.5,
        "code": "BK2044",
        "pets": True,
        "wishes": ["a crib", "late check-in"],
        "rooms": ["double"],
    }


def test_what_is_named_twice_is_left_out() -> None:
    twice = "My name is Ann. My name is Bo. Codes BK2044 and BK2045. Mail a@b.co or c@d.co."
    found = filled(Booking, twice)
    assert "code" not in found
    assert "guest" not in found
    assert "email" not in filled(SupportRequest, twice)


class Person(BaseModel):
    """Record a person."""

    name: str = Field(description="The person's name.")
    manager: "Person | None" = Field(default=None, description="Whom they report to.")


AGAIN: dict[str, Any] = {"type": "object", "title": "Part", "description": "Record a part."}
AGAIN["properties"] = {
    "name": {"type": "string", "description": "The person's name."},
    "part": {"$ref": "#", "description": "What it has inside of it."},
}


@pytest.mark.parametrize("schema", [Person, AGAIN], ids=["model", "json schema"])
def test_a_schema_that_has_itself_inside_is_filled_once(schema: Any) -> None:
    assert filled(schema, "I am Ann Lee.") == {"name": "Ann Lee"}
