"""The graphs for a server that takes files alone: the same objects that Python callers import."""

from graphs.deferred_tool_search import graph as deferred_tool_search
from graphs.fixed_workflow import graph as fixed_workflow
from graphs.forced_output import graph as forced_output
from graphs.full_agent import graph as full_agent
from graphs.ladder import graph as ladder
from graphs.one_call import graph as one_call
from graphs.react_compaction import graph as react_compaction
from graphs.react_todo_notes import graph as react_todo_notes
from graphs.react_transcript import graph as react_transcript
from graphs.tool_calling import graph as tool_calling
from graphs.tool_search_toolkit import graph as tool_search_toolkit
from graphs.tools_in_context import graph as tools_in_context

__all__ = [
    "deferred_tool_search",
    "fixed_workflow",
    "forced_output",
    "full_agent",
    "ladder",
    "one_call",
    "react_compaction",
    "react_todo_notes",
    "react_transcript",
    "tool_calling",
    "tool_search_toolkit",
    "tools_in_context",
]
