"""A page of the project's own: threads, their runs as timelines, and what waits for a yes.

`rungs view` serves it alone; LangGraph's server serves it beside its API (`http.app` in
langgraph.json). It needs no network: everything it shows comes from the memory file.
"""
