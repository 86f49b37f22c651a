"""What servers do to a reply, put right before anything reads it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import CallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from graphs.models import ScriptedModel
from graphs.models.quirks import (
    RawCalls,
    answer_text,
    clean_data,
    clean_text,
    finish_reason,
    is_written_tool_call,
    known_call_ids,
    normalize_reply,
)
from graphs.models.raw_calls import assemble
from graphs.models.replay import replayable


async def replies(reply: Any, known: set[str] | None = None, *, pieces: Any = None) -> AIMessage:
    """Get a scripted reply whole and streamed, sync and async, which must agree."""
    got = []
    streamed = {"stream_chunks": pieces} if pieces is not None else reply
    for kind in ("sync", "async"):
        for script in (reply, streamed):
            model = ScriptedModel(replies=[script])
            raw = RawCalls()
            config = raw.watching({})
            stream = script is streamed
            if kind == "sync":
                message = model.invoke("q", config, stream=stream)
            else:
                message = await model.ainvoke("q", config, stream=stream)
            got.append(normalize_reply(message, known or set(), raw))
    first = got[0]
    for other in got[1:]:
        assert [(c["name"], c["args"]) for c in other.tool_calls] == [
            (c["name"], c["args"]) for c in first.tool_calls
        ]
        assert [(c["name"], c["args"]) for c in other.invalid_tool_calls] == [
            (c["name"], c["args"]) for c in first.invalid_tool_calls
        ]
        assert other.content == first.content
    return got[-1]


def one(raw: str, finish: str = "tool_calls") -> dict[str, Any]:
    return {"tool_calls": [{"id": "c1", "name": "read", "args_raw": raw}], "finish": finish}


@pytest.mark.parametrize(
    "raw",
    ['{"city": "Par', '{"ids":[101,102', "[1]", "4", '"x"', "{} {}", '{"a":1,"a":2}', "{'a': 1}"],
)
async def test_a_call_that_does_not_parse_keeps_its_id_and_says_where_it_broke(raw: str) -> None:
    """Cases ARG-01 and ARG-03."""
    reply = await replies(one(raw))
    assert not reply.tool_calls
    (call,) = reply.invalid_tool_calls
    assert (call["id"], call["name"], call["args"]) == ("c1", "read", raw)
    assert call["error"]
    assert "\n" not in call["error"]


async def test_empty_arguments_are_an_empty_object_for_validation_to_name_what_is_missing() -> None:
    """Case ARG-09."""
    reply = await replies(one(""))
    assert [(c["id"], c["args"]) for c in reply.tool_calls] == [("c1", {})]


async def test_arguments_encoded_twice_are_decoded_once() -> None:
    reply = await replies(one(json.dumps('{"p": "a"}')))
    assert reply.tool_calls[0]["args"] == {"p": "a"}


async def test_surrogates_and_nul_do_not_get_into_arguments() -> None:
    """Case ARG-19: a proper pair stays one character."""
    reply = await replies(one('{"t":"fish \\ud83c end"}'))
    assert reply.tool_calls[0]["args"] == {"t": "fish \ufffd end"}
    reply = await replies(one('{"t":"\\ud83c\\udf78 a\\u0000b"}'))
    assert reply.tool_calls[0]["args"] == {"t": "🍸 ab"}
    reply = normalize_reply(
        AIMessage("", tool_calls=[tool_call(name="n", args={"\0": ["\ud83c"]}, id="c")])
    )
    assert reply.tool_calls[0]["args"] == {"": ["\ufffd"]}


async def test_surrogates_and_nul_do_not_get_into_text() -> None:
    assert (await replies("a\0b \ud83c")).content == "ab \ufffd"
    blocks: list[Any] = [{"type": "text", "text": "\ud83c"}, {"type": "image", "url": "x"}]
    cleaned = normalize_reply(AIMessage(blocks)).content
    assert cleaned == [{"type": "text", "text": "\ufffd"}, {"type": "image", "url": "x"}]


GLUED = {"index": 0, "id": "a", "name": "read", "args": '{"p":"a"}{"p":"b"}'}


async def test_glued_arguments_are_an_invalid_call_with_all_of_their_text() -> None:
    """Case MUL-13, first stream: core keeps the first object and drops the second."""
    reply = await replies({"stream_chunks": [{"tool_calls": [GLUED]}, {"finish": "tool_calls"}]})
    assert not reply.tool_calls
    assert reply.invalid_tool_calls[0]["args"] == GLUED["args"]


async def test_fragments_without_an_index_are_an_invalid_call_and_never_run_empty() -> None:
    """Case MUL-13, second stream: core runs `read` with {}."""
    pieces = [
        {"tool_calls": [{"index": None, "id": "a", "name": "read", "args": '{"p'}]},
        {"tool_calls": [{"index": None, "id": None, "args": '":"a"}'}]},
        {"finish": "tool_calls"},
    ]
    reply = await replies({"stream_chunks": pieces})
    assert not reply.tool_calls
    (call,) = reply.invalid_tool_calls
    assert (call["id"], call["name"], call["args"]) == ("a", "read", '{"p":"a"}')
    assert "send the whole call again" in str(call["error"])


async def test_a_name_repeated_in_each_fragment_is_that_name() -> None:
    """Case MUL-13, third stream: `readread`."""
    pieces = [
        {"tool_calls": [{"index": 0, "id": "a", "name": "read", "args": '{"p'}]},
        {"tool_calls": [{"index": 0, "id": "a", "name": "read", "args": '":"a"}'}]},
        {"finish": "tool_calls"},
    ]
    reply = await replies({"stream_chunks": pieces})
    assert [(c["name"], c["args"]) for c in reply.tool_calls] == [("read", {"p": "a"})]


def test_a_name_split_over_fragments_is_put_together() -> None:
    (call,) = assemble([{"index": 0, "name": "re"}, {"index": 0, "name": "ad", "args": "{}"}])
    assert call.name == "read"


async def test_two_calls_that_reuse_an_index_are_two_calls() -> None:
    pieces = [
        {"tool_calls": [{"index": 0, "id": "a", "name": "read", "args": '{"p":"a"}'}]},
        {"tool_calls": [{"index": 0, "id": "b", "name": "read", "args": '{"p":"b"}'}]},
        {"finish": "tool_calls"},
    ]
    reply = await replies({"stream_chunks": pieces})
    assert [(c["id"], c["args"]) for c in reply.tool_calls] == [
        ("a", {"p": "a"}),
        ("b", {"p": "b"}),
    ]


async def test_whole_calls_without_an_index_are_calls() -> None:
    pieces = [
        {"tool_calls": [{"index": None, "id": "a", "name": "read", "args": '{"p":"a"}'}]},
        {"tool_calls": [{"index": None, "id": "b", "name": "read", "args": "{}"}]},
        {"finish": "tool_calls"},
    ]
    reply = await replies({"stream_chunks": pieces})
    assert [c["id"] for c in reply.tool_calls] == ["a", "b"]


async def test_a_fragment_of_no_call_is_not_lost() -> None:
    reply = await replies({"stream_chunks": [{"tool_calls": [{"index": None, "args": "{}"}]}]})
    (call,) = reply.invalid_tool_calls
    assert call["id"]


async def test_pieces_of_an_attempt_that_failed_are_forgotten() -> None:
    raw = RawCalls()
    chunk = AIMessageChunk(
        content="", tool_call_chunks=[{"name": "f", "args": "{", "id": "a", "index": 0}]
    )

    class Piece:
        message = chunk

    raw.on_llm_new_token("", chunk=Piece())
    assert raw.calls()
    raw.on_chat_model_start({}, [])
    assert raw.calls() == []


def test_watching_keeps_the_callbacks_that_are_there() -> None:
    raw, other = RawCalls(), RawCalls()
    assert raw.watching({})["callbacks"] == [raw]
    assert raw.watching({"callbacks": [other]})["callbacks"] == [other, raw]
    manager = CallbackManager(handlers=[other])
    watched = raw.watching({"callbacks": manager, "tags": ["t"]})
    assert watched["tags"] == ["t"]
    assert watched["callbacks"].handlers == [other, raw]  # type: ignore[union-attr]
    assert manager.handlers == [other]


async def test_a_call_cut_off_by_the_token_limit_is_not_run_though_it_parses() -> None:
    reply = await replies(one('{"ids": [101, 102]}', finish="length"))
    assert not reply.tool_calls
    assert "cut off" in str(reply.invalid_tool_calls[0]["error"])
    two = {"tool_calls": [*one("{}")["tool_calls"], {"id": "c2", "name": "read", "args_raw": "{"}]}
    reply = await replies({**two, "finish": "length"})
    assert [c["id"] for c in reply.tool_calls] == ["c1"]
    assert [c["id"] for c in reply.invalid_tool_calls] == ["c2"]


def calls(*ids: Any) -> AIMessage:
    return AIMessage(
        "", tool_calls=[tool_call(name="make", args={}, id=call_id) for call_id in ids]
    )


@pytest.mark.parametrize("ids", [("Z",), ("Z", "Z"), (None, ""), ("ok", "Z", "ok")])
def test_missing_and_repeated_call_ids_become_fresh_ones_in_the_whole_thread(ids: Any) -> None:
    """Case MUL-03: llama.cpp gives every call of every turn the same id."""
    reply = normalize_reply(calls(*ids), known_ids={"Z"})
    fresh = [call["id"] for call in reply.tool_calls]
    assert len({"Z", *fresh}) == len(ids) + 1
    assert all(fresh)
    if "ok" in ids:
        assert fresh[0] == "ok"


def test_ids_of_invalid_calls_are_unique_too() -> None:
    bad = invalid_tool_call(name="make", args="{", id="Z", error=None)
    reply = normalize_reply(
        AIMessage("", tool_calls=calls("Z").tool_calls, invalid_tool_calls=[bad])
    )
    assert reply.tool_calls[0]["id"] == "Z"
    assert reply.invalid_tool_calls[0]["id"] not in {"Z", None}


def test_known_ids_are_those_of_every_call_of_the_thread() -> None:
    bad = invalid_tool_call(name="make", args="{", id="b", error=None)
    thread = [HumanMessage("q"), calls("a"), AIMessage("", invalid_tool_calls=[bad])]
    assert known_call_ids(thread) == {"a", "b"}


def test_content_blocks_of_a_call_follow_its_fresh_id() -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "see"},
        {"type": "tool_use", "id": "Z", "name": "make", "input": {}},
        {"type": "tool_use", "id": "Z", "name": "make", "input": {}},
    ]
    message = AIMessage(blocks, tool_calls=calls("Z", "Z").tool_calls)
    reply = normalize_reply(message, {"Z"})
    ids = [call["id"] for call in reply.tool_calls]
    assert [block["id"] for block in reply.content[1:]] == ids  # type: ignore[index]
    assert blocks[1]["id"] == "Z", "what the provider gave is not changed"


def test_raw_calls_kept_by_a_provider_are_parsed_strictly_and_not_kept_twice() -> None:
    kept = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1,"a":2}'}}
    ]
    message = AIMessage(
        "",
        tool_calls=[tool_call(name="f", args={"a": 2}, id="c1")],
        additional_kwargs={"tool_calls": kept, "reasoning_content": "hm"},
    )
    reply = normalize_reply(message)
    assert not reply.tool_calls
    assert reply.invalid_tool_calls[0]["id"] == "c1"
    assert reply.additional_kwargs == {"reasoning_content": "hm"}


def test_an_untouched_reply_comes_back_as_it_came() -> None:
    for message in (AIMessage("hi"), calls("a")):
        assert normalize_reply(message) is message


def test_a_chunk_becomes_a_message() -> None:
    assert type(normalize_reply(AIMessageChunk(content="hi"))) is AIMessage


@pytest.mark.parametrize("counts", [(-5, 3), (3, -1), (0, 0), (3, 4)])
def test_usage_that_counts_nothing_is_unknown(counts: tuple[int, int]) -> None:
    taken, given_ = counts
    usage: Any = {"input_tokens": taken, "output_tokens": given_, "total_tokens": taken + given_}
    reply = normalize_reply(AIMessage("a", usage_metadata=usage))
    assert reply.usage_metadata == (usage if any(counts) and min(counts) >= 0 else None)
    assert normalize_reply(AIMessage("a")).usage_metadata is None


def test_a_call_without_a_name_is_invalid() -> None:
    bad = invalid_tool_call(name="", args="{}", id="a", error=None)
    reply = normalize_reply(AIMessage("", invalid_tool_calls=[bad]))
    assert reply.invalid_tool_calls[0]["error"] == "the call names no tool"


NAMES = {"find", "read"}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "find", "arguments": {"q": "tea"}}',
        ' {"name": "find", "parameters": {"q": "tea"}}\n',
        '{"type": "function", "function": {"name": "find", "arguments": "{}"}}',
        '[{"name": "find", "arguments": {}}, {"name": "read", "arguments": {}}]',
        '```json\n{"name": "find", "arguments": {}}\n```',
        '<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>',
    ],
)
def test_a_text_that_is_a_tool_call_is_told_apart_from_an_answer(text: str) -> None:
    """Case MUL-11."""
    assert is_written_tool_call(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        'Call it so: {"name": "find", "arguments": {"q": "tea"}}',
        '{"name": "find", "arguments": {"q": "tea"}} is how.',
        '{"name": "buy", "arguments": {}}',
        '{"name": "find"}',
        '{"name": "find", "arguments"',
        "[]",
        "Tea costs 3.",
        "",
        '{"name": ["find"], "arguments": {}}',
    ],
)
def test_an_answer_that_merely_holds_such_json_is_an_answer(text: str) -> None:
    """Case MUL-11: in prose it is left alone."""
    assert not is_written_tool_call(text, NAMES)


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("It is 5.", "It is 5."),
        ("<think>Let me see.</think>\n\nIt is 5.", "It is 5."),
        ("<think>a</think><think>b</think>It is 5.", "It is 5."),
        ("<THINK>a</THINK> It is 5.", "It is 5."),
        ("<thinking>never ends", ""),
        ("so it is five.</think>\nIt is 5.", "It is 5."),
        ("Write `<think>` and `</think>` around it.", "Write `<think>` and `</think>` around it."),
        ("a < b", "a < b"),
        ([{"type": "text", "text": "It is "}, {"type": "text", "text": "5."}], "It is 5."),
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "5"}], "5"),
        ("", ""),
    ],
)
def test_the_answer_is_the_text_without_its_thinking(content: Any, answer: str) -> None:
    assert answer_text(AIMessage(content)) == answer


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"finish_reason": None}, None),
        ({}, None),
    ],
)
def test_the_finish_reason_is_told_in_one_set_of_words(metadata: Any, reason: str | None) -> None:
    assert finish_reason(AIMessage("", response_metadata=metadata)) == reason
    assert finish_reason(HumanMessage("")) is None


def test_a_replayed_call_has_a_name_the_protocol_allows() -> None:
    message = AIMessage("", tool_calls=[tool_call(name="read file!", args={}, id="a")])
    bad = AIMessage(
        "", invalid_tool_calls=[invalid_tool_call(name=None, args="", id="b", error="e")]
    )
    sent = replayable([message, bad, ToolMessage("r", tool_call_id="a")])
    assert [c["name"] for m in sent[:2] for c in m.tool_calls] == ["read_file_", "unknown"]  # type: ignore[attr-defined]
    assert message.tool_calls[0]["name"] == "read file!"


def test_unremarkable_messages_are_replayed_as_the_same_objects() -> None:
    messages = [HumanMessage("q"), calls("a"), ToolMessage("r", tool_call_id="a")]
    assert all(a is b for a, b in zip(replayable(messages), messages, strict=True))


@given(st.text(alphabet=st.characters(codec=None)))
def test_clean_text_can_be_encoded_and_is_clean(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean_text(cleaned) == cleaned


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_clean_data_is_returned_as_it_is(value: Any) -> None:
    cleaned = clean_data(value)
    json.dumps(cleaned, ensure_ascii=False).encode()
    assert clean_data(cleaned) == cleaned


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_arguments_mean_the_same_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    raw = json.dumps({"t": data.decode("utf-8", "replace")})
    at = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [{"index": 0, "args": raw[a:b]} for a, b in pairwise(at)]
    (call,) = assemble([{"index": 0, "id": "a", "name": "f", "args": ""}, *pieces])
    assert call.arguments == raw
