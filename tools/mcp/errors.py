"""How a request to a server can end without its answer."""

from __future__ import annotations


class ServerError(ValueError):
    """What a server, or the way to it, did instead of answering: a sentence."""


class LostError(ServerError):
    """The connection went while a request waited: whether it took effect is unknown."""


class NotSentError(LostError):
    """The connection was gone before anything was sent."""


class RefusedError(ServerError):
    """The server answered with an error of the protocol."""
