"""A thread belongs to the user who began it."""

from graphs.errors import UsageError
from graphs.state import State


def check_owner(state: State, user: str | None, thread_id: str | None) -> None:
    """Refuse another user's thread, before anything runs in it.

    Where the graph is open on a memory file this is found before the run begins. Where it runs on
    another saver, as on a server, the input is in the thread by then: who may write to which thread
    is that server's to decide, by its own authentication.

    Raises:
        UsageError: The thread was begun by another user; also where the caller names no user.
    """
    owner = state.get("owner")
    if owner and owner != user:
        raise UsageError(
            f"thread {thread_id} belongs to another user: name its user, or begin a new one"
        )
