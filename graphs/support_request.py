"""The record that the exported graph `forced_output` fills: a customer's request for support."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

Email = Annotated[str, Field(json_schema_extra={"format": "email"})]


class SupportRequest(BaseModel):
    """Record what a customer writes to support, once, from what the text says alone."""

    customer: str = Field(description="The customer's name, as the text gives it.")
    email: Email | None = Field(
        default=None,
        description="The customer's e-mail address. Null if the text names none.",
    )
    order_id: str | None = Field(
        default=None,
        pattern=r"^O-[0-9]{4,8}$",
        description="The number of the order, written like O-2001. Null if the text names none.",
    )
    plan: Literal["basic", "plus", "business"] | None = Field(
        default=None, description="The plan the request is about. Null if the text names none."
    )
    plan_price: float | None = Field(
        default=None,
        ge=0,
        description="The price of the plan in US dollars, a number alone: 240 for $240. "
        "Null if the text does not give it.",
    )
    plan_start: date | None = Field(
        default=None,
        description="The date on which the plan began or was bought, as YYYY-MM-DD. "
        "Null if the text does not give a full date.",
    )
    category: Literal["refund", "billing", "cancellation", "technical", "account", "other"] = Field(
        description="What the customer wants: refund (money back, returned), "
        "billing (invoice, charge, payment, price), cancellation (cancel, end, stop), "
        "technical (error, crash, broken, fail, slow), "
        "account (password, sign in, log in, e-mail address), other (anything else)."
    )
    urgency: Literal["low", "normal", "high"] = Field(
        description="How soon the customer needs help: high (urgent, asap, immediately, at once, "
        "right away, deadline), low (no hurry, no rush, whenever), normal (where the text does not "
        "say)."
    )
    summary: str = Field(
        max_length=300,
        description="The request in one sentence, in the customer's own words where they serve.",
    )
