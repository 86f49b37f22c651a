"""A thread belongs to the user who began it."""

from graphs.errors import UsageError
from graphs.node import Scope
from graphs.state import State


def check_owner(state: State, scope: Scope) -> None:
    """Refuse another user's thread.

    Raises:
        UsageError: The thread was begun by another user; also where the caller names no user.
    """
    owner = state.get("owner")
    if owner and owner != scope.context.user:
        raise UsageError(
            f"thread {scope.thread_id} belongs to another user: name its user, or begin a new one"
        )
