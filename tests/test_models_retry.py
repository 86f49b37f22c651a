"""Transient model errors are tried again, a bounded number of times, and told in one line."""

from __future__ import annotations

import email.utils
import socket
import traceback
from typing import Any

import openai
import pytest
import tenacity

from graphs.models import ModelError, ModelReplyError, ScriptedModel
from graphs.models.openai import RungsChatOpenAI
from graphs.models.retry import (
    MAX_LINE,
    MAX_RETRY_AFTER,
    async_retrying,
    describe,
    is_configuration,
    is_transient,
    retry_after,
    retrying,
)
from tests.stub_server import Reply, StubServer, completion, serving

BUSY = Reply({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, status=429)


def model(server: StubServer) -> RungsChatOpenAI:
    return RungsChatOpenAI(model="m", base_url=server.base_url, api_key="sk-x")


class Waits:
    """Stands in for sleeping."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)

    async def asleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def test_a_rate_limit_is_waited_out_as_the_server_asks() -> None:
    """Case SRV-03: 429, 429, ok; only the model call is tried again."""
    later = Reply(BUSY.body, status=429, headers={"Retry-After": "7"})
    for asynchronous in (False, True):
        with serving([later, later, completion("ok")]) as server:
            waits = Waits()
            told: list[tenacity.RetryCallState] = []
            if asynchronous:
                retry: Any = async_retrying(sleep=waits.asleep, before_sleep=told.append)
                reply = await retry(model(server).ainvoke, "q")
            else:
                retry = retrying(sleep=waits.sleep, before_sleep=told.append)
                reply = retry(model(server).invoke, "q")
            assert reply.content == "ok"
            assert len(server.requests) == 3
        assert waits.seconds == [7, 7]
        assert [state.attempt_number for state in told] == [3, 3]  # one state, told twice


async def test_the_third_failure_is_raised_as_it_came_with_the_number_of_attempts() -> None:
    for asynchronous in (False, True):
        with serving([BUSY]) as server:
            waits, asked = Waits(), model(server)
            if asynchronous:
                with pytest.raises(openai.RateLimitError) as error:
                    await async_retrying(sleep=waits.asleep)(asked.ainvoke, "q")
            else:
                with pytest.raises(openai.RateLimitError) as error:
                    retrying(sleep=waits.sleep)(asked.invoke, "q")
            assert len(server.requests) == 3
        assert describe(error.value) == "the model server answered 429: slow down (3 attempts)"
        assert len(waits.seconds) == 2
        assert 0.5 <= waits.seconds[0] <= 1.0 <= waits.seconds[1] <= 1.5


async def test_what_no_retry_cures_is_raised_at_once() -> None:
    for status in (400, 401, 403, 404, 422):
        with serving([Reply({"error": {"message": "no"}}, status=status)]) as server:
            with pytest.raises(openai.APIStatusError) as error:
                retrying(sleep=Waits().sleep)(model(server).invoke, "q")
            assert len(server.requests) == 1
        assert is_configuration(error.value) == (status in {401, 403, 404})


async def test_a_reply_without_choices_is_asked_for_again() -> None:
    """Case SRV-01."""
    with serving([{"choices": []}, completion("ok")]) as server:
        assert retrying(sleep=Waits().sleep)(model(server).invoke, "q").content == "ok"
        server.play([{"choices": []}])
        with pytest.raises(ModelReplyError) as error:
            retrying(sleep=Waits().sleep)(model(server).invoke, "q")
    said = describe(error.value)
    assert said == "the model server sent a reply without choices (3 attempts)"


async def test_a_server_that_is_not_there_is_transient_and_told() -> None:
    with StubServer([]) as server:
        url = server.base_url
    absent = RungsChatOpenAI(model="m", base_url=url, api_key="sk-x")
    with pytest.raises(openai.APIConnectionError) as error:
        absent.invoke("q")
    assert is_transient(error.value)
    address = url.removesuffix("/v1")
    assert describe(error.value) == (
        f"Connection to the model server at {address} failed (Connection refused); "
        "start it, or set OPENAI_BASE_URL to where it is"
    )
    with pytest.raises(openai.APIConnectionError):
        await absent.ainvoke("q")


async def test_a_server_that_hangs_is_given_up_and_named_with_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        hung = RungsChatOpenAI(
            model="m", base_url=address.replace("//", "//u:pw@"), api_key="sk-x", timeout=0.2
        )
        errors: list[BaseException] = []
        for ask in (hung.invoke, lambda text: list(hung.stream(text))):
            with pytest.raises(openai.APITimeoutError) as error:
                ask("q")
            errors.append(error.value)
        with pytest.raises(openai.APITimeoutError) as error:
            await hung.ainvoke("q")
        errors.append(error.value)
    for raised in errors:
        assert is_transient(raised)
        assert describe(raised) == (
            f"the model server at {address} gave no answer within 0.2 s; "
            "try again later, or allow more with RUNGS_MODEL_TIMEOUT"
        )


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY may use"),
        (404, "--model or RUNGS_MODEL"),
    ],
)
def test_an_answer_that_the_user_can_mend_says_how(status: int, advice: str) -> None:
    long = "no " * MAX_LINE
    reply = Reply({"error": {"message": long}}, status=status)
    with serving([reply]) as server, pytest.raises(openai.APIStatusError) as error:
        model(server).invoke("q")
    said = describe(error.value)
    assert said.startswith(f"the model server answered {status}: no no")
    assert advice in said.rpartition("; ")[2]
    assert len(said) <= MAX_LINE


def test_a_key_that_no_header_can_hold_is_in_no_error() -> None:
    key: Any = "sk-odd\nkey"
    with serving([]) as server, pytest.raises(openai.APIConnectionError) as error:
        RungsChatOpenAI(model="m", base_url=server.base_url, api_key=key).invoke("q")
    assert "check OPENAI_API_KEY" in describe(error.value)
    assert "sk-odd" not in describe(error.value)
    assert "sk-odd" not in "".join(traceback.format_exception(error.value))


class Response:
    def __init__(self, **headers: str) -> None:
        self.status_code = 429
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class FailureError(Exception):
    def __init__(self, response: Any) -> None:
        super().__init__("failed")
        self.response = response


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250"}, 0.25),
        ({"retry_after": "3600"}, MAX_RETRY_AFTER),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": email.utils.formatdate(1000, usegmt=True)}, 10),
        ({"retry_after": email.utils.formatdate(900, usegmt=True)}, 0),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_bounded(headers: Any, seconds: float | None) -> None:
    assert retry_after(FailureError(Response(**headers)), now=lambda: 990.0) == seconds


def test_an_error_without_a_response_asks_for_no_wait() -> None:
    assert retry_after(ValueError("x")) is None
    assert retry_after(None) is None


class QuotaError(Exception):
    status_code = 429
    code = "insufficient_quota"


class TransportError(Exception):
    """Named as the base of httpx's own."""


class ReadTimeout(TransportError):  # noqa: N818 - httpx's name
    pass


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (QuotaError(), False),
        (ReadTimeout("slow"), True),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (ModelReplyError("x"), True),
        (ModelError("x"), False),
        (ValueError("x"), False),
        (AssertionError("x"), False),
        (FailureError(Response()), True),
    ],
)
def test_errors_are_told_apart_by_what_waiting_can_cure(error: Exception, transient: bool) -> None:
    assert is_transient(error) is transient


def test_a_used_up_quota_is_not_tried_again() -> None:
    scripted = ScriptedModel(replies=[QuotaError("pay"), "ok"])
    with pytest.raises(QuotaError):
        retrying(sleep=Waits().sleep)(scripted.invoke, "q")
    assert len(scripted.requests) == 1


def test_a_description_is_one_short_line_without_credentials() -> None:
    error = ValueError("line one\nkey=sk-live-0123456789abcdef " + "x" * 1000)
    said = describe(error)
    assert said.startswith("ValueError: line one key=")
    assert "sk-live" not in said
    assert "\n" not in said
    assert len(said) <= MAX_LINE
    assert describe(TimeoutError()) == "TimeoutError"
    assert describe(ModelError("do this")) == "do this"


def test_the_loops_are_tenacitys_own() -> None:
    assert isinstance(retrying(), tenacity.Retrying)
    assert isinstance(async_retrying(), tenacity.AsyncRetrying)
