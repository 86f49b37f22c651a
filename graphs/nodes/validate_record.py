"""`validate_record`: the arguments of the forced call are a record, or are rejected."""

from langchain_core.messages import AIMessage, ToolMessage

from graphs import audit
from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.records import judge, recorded, rejected
from graphs.sealing import real_reply
from graphs.state import State
from graphs.tool_results import good_result
from graphs.transcript import failed_result, newest_question, reply_calls
from graphs.usage import usage_of
from graphs.waiting import Steps
from tools import redact_data
from tools.record import RecordTool

RECORDED = "recorded"


def validate_record(source: ModelSource, *, tool: RecordTool, context: type[Context]) -> Node:
    """Make the node that takes the arguments of the forced call as the record.

    It keeps true that
    * the tool is never executed, and nothing is repaired: the arguments are the record as they
      came, or a rejection holds them as they came, but for secrets, which go once it is judged;
    * that the call was forced is not trusted: a reply without exactly one call of the tool is
      rejected;
    * each call of the reply gets one result, so that the thread can go on.

    Args:
        source: The model, which is named in the costs.
        tool: The tool that was to be called.
        context: The variant's settings.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        reply = messages[-1]
        if not isinstance(reply, AIMessage):  # a state edited by hand
            reply = AIMessage("")
        record, rejection = redact_data(judge((yield from real_reply(reply)), tool))
        results: list[ToolMessage] = []
        for call in reply_calls(reply):
            if rejection is None:
                results.append(good_result(call, RECORDED, {}))
            else:
                told = "; ".join([rejection["reason"], *rejection["errors"]])
                results.append(failed_result(call, f"not recorded: {told}", "invalid_arguments"))
            audit.tool_call(scope, call, results[-1], step=1)
        question = newest_question(messages).id or ""
        cost = usage_of([*messages, *results], question, source.name(scope.context))
        end = recorded(record) if rejection is None else rejected(rejection)
        return {"messages": results, **end, "usage": cost}

    return Node("validate_record", body, context)
