"""From a name to a model: what there is, once, and one line for what there is not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from graphs.models import ModelError, OfflineModel, ScriptedModel, resolve
from graphs.models.catalog import TIMEOUT
from graphs.models.openai import RungsChatOpenAI

MORE = ("OPENAI_ORG_ID", "RUNGS_MODEL_TIMEOUT")
SETTINGS = ("RUNGS_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SETTINGS, "RUNGS_OPENAI_SENDS", "ANTHROPIC_API_KEY", *MORE):
        monkeypatch.delenv(name, raising=False)


def test_without_a_name_it_is_the_setting_and_else_the_offline_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert isinstance(resolve(), OfflineModel)
    assert resolve() is resolve("offline")
    monkeypatch.setenv("RUNGS_MODEL", "openai:m")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert isinstance(resolve(), RungsChatOpenAI)
    monkeypatch.setenv("RUNGS_MODEL", "  ")
    assert isinstance(resolve(), OfflineModel)


def test_a_model_is_itself() -> None:
    model = ScriptedModel(replies=[])
    assert resolve(model) is model


def test_an_openai_model_is_made_once_for_a_name_and_an_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    first = resolve("openai:m")
    assert isinstance(first, RungsChatOpenAI)
    assert first is resolve("openai:m")
    assert first.max_retries == 0
    monkeypatch.setenv("OPENAI_API_KEY", "sk-b")
    assert resolve("openai:m") is not first


def test_a_compatible_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = resolve("openai:local:7b")
    assert isinstance(model, RungsChatOpenAI)
    assert model.model_name == "local:7b"
    assert str(model.root_client.base_url) == "http://127.0.0.1:9/v1/"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("gpt-4o", "openai:<name>"),
        ("openai:", "unknown model"),
        (":m", "unknown model"),
        ("", "no model is named"),
        (" ", "no model is named"),
        ("nobody:m", "unknown provider 'nobody': write 'offline'"),
        ("openi:gpt-5", "unknown provider 'openi': did you mean 'openai'?"),
        ("OpenAI:gpt-5", "unknown provider 'OpenAI': did you mean 'openai'?"),
        ("OFFLINE", "unknown model 'OFFLINE': did you mean 'offline'?"),
        ("offline:", "unknown model 'offline:': did you mean 'offline'?"),
        ("bedrock:m", "pip install langchain-aws"),
        ("google-genai:m", "pip install langchain-google-genai"),
        ("scripted:/nowhere/x.json", "/nowhere/x.json"),
        ("mistralai:m", "mistralai"),
    ],
)
def test_a_model_that_can_not_be_had_is_one_line_that_names_it(spec: str, said: str) -> None:
    with pytest.raises(ModelError) as error:
        resolve(spec)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 150


ODD = ["sk-\u00e9", "sk-a\nb", "sk a", "sk-\x7f", "sk-\u200b"]


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_ORG_ID"])
@pytest.mark.parametrize("value", ODD)
def test_a_key_that_no_header_can_hold_is_refused_and_never_quoted(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match=name) as error:
        resolve("openai:m")
    assert value not in str(error.value)


def test_white_space_around_a_key_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-x\r\n")
    model = resolve("openai:m")
    assert isinstance(model, RungsChatOpenAI)
    assert model.root_client.api_key == model.root_async_client.api_key == "sk-x"
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    with pytest.raises(ModelError, match="needs OPENAI_API_KEY"):
        resolve("openai:m")


def test_a_server_is_waited_for_as_long_as_the_setting_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    for text, seconds in (("", TIMEOUT), (" 7.5 ", 7.5)):
        monkeypatch.setenv("RUNGS_MODEL_TIMEOUT", text)
        model = resolve("openai:m")
        assert isinstance(model, RungsChatOpenAI)
        assert model.root_client.timeout == model.root_async_client.timeout == seconds


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf", "1e9"])
def test_a_time_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("RUNGS_MODEL_TIMEOUT", text)
    with pytest.raises(ModelError, match="RUNGS_MODEL_TIMEOUT"):
        resolve("openai:m")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://"])
def test_a_base_url_that_is_none_is_one_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        resolve("openai:m")


def test_an_unknown_word_in_what_a_server_takes_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("RUNGS_OPENAI_SENDS", "stop,streams")
    with pytest.raises(ModelError, match="unknown 'streams'"):
        resolve("openai:m")


def test_importing_the_models_imports_no_client() -> None:
    heavy = ["langchain_openai", "openai", "tiktoken", "langchain_core.language_models.chat_models"]
    code = f"import graphs.models, sys; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    from graphs import models

    values: list[Any] = [getattr(models, name) for name in models.__all__]
    assert all(values)
    with pytest.raises(AttributeError):
        models.__getattr__("nothing")
