"""MCP servers as sources of tools; what is heavy is imported when a server is first used."""

from tools.mcp.servers import Servers
from tools.mcp.settings import ServerSettings, read_server

__all__ = ["ServerSettings", "Servers", "read_server"]
