"""The server itself: requests of the protocol in, tool results out.

All work on the store is done by one thread, in the order of the requests: a thousand at once wait in line, and no adapter
is used by two threads. Other processes are kept apart by the locks of the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import mcp.types as wire
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from returns.result import Failure, Result, Success

from agent_memory import __version__
from agent_memory.bootstrap import Memory
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.results import sealed
from agent_memory.errors import Defect, Error, UsageInvalid
from agent_memory.surfaces.cli.opening import entry_id
from agent_memory.surfaces.mcp import acts
from agent_memory.surfaces.mcp.answers import error_text
from agent_memory.surfaces.mcp.asked import AskedId
from agent_memory.surfaces.mcp.clients import client_caller
from agent_memory.surfaces.mcp.tools import INSTRUCTIONS, TOOLS, ToolListing

SERVER_NAME = "agent-memory"
SECTION_URI = "memory://section"
ENTRY_URI = "memory://entry/"
_MARKDOWN = "text/markdown"
_MOST_CALLERS = 32

T = TypeVar("T")


class MemoryServer:
    """One store, served to any number of clients. Close it when the last of them is gone."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._callers: dict[Caller, Memory] = {}
        self._thread = ThreadPoolExecutor(1, "store")
        self._tools = {tool.name: tool for tool in TOOLS}
        self.protocol: Server[Any] = Server(
            SERVER_NAME,
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
        )
        """The SDK's server."""

    def close(self) -> None:
        """What is at work is finished, what waits is dropped, and what the person should know of it all is told."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        for warning in dict.fromkeys(each for memory in self._callers.values() for each in memory.warnings()):
            self._memory.warn(warning)

    async def _list_tools(self, _context: Any, _params: Any) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=[_tool(tool) for tool in TOOLS])

    async def _call_tool(self, context: Any, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            problem = UsageInvalid(f"There is no tool {params.name[:80]!r}", f"There are {', '.join(self._tools)}.")
            return _result(Failure(problem))
        caller = self._caller(context)
        arguments = params.arguments or {}
        return _result(await self._in_turn(lambda: tool.act(self._memory_of(caller), arguments)))

    async def _list_resources(self, _context: Any, _params: Any) -> wire.ListResourcesResult:
        section = wire.Resource(
            uri=SECTION_URI,
            name="section",
            title="What every session starts with",
            description="The notes that matter most here: hot ones whole, warm ones by name.",
            mime_type=_MARKDOWN,
        )
        return wire.ListResourcesResult(resources=[section])

    async def _list_resource_templates(self, _context: Any, _params: Any) -> wire.ListResourceTemplatesResult:
        entry = wire.ResourceTemplate(
            uri_template=f"{ENTRY_URI}{{id}}", name="entry", description="One note by its id.", mime_type=_MARKDOWN
        )
        return wire.ListResourceTemplatesResult(resource_templates=[entry])

    async def _read_resource(self, context: Any, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
        caller, uri = self._caller(context), str(params.uri)
        match sealed(await self._in_turn(lambda: _resource(self._memory_of(caller), uri))):
            case Failure(error):
                raise MCPError(wire.INVALID_PARAMS, error_text(error), {"uri": uri[:200]})
            case Success(text):
                contents = wire.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
                return wire.ReadResourceResult(contents=[contents])

    def _caller(self, context: Any) -> Caller:
        params = context.session.client_params
        name, version = ("", "") if params is None else (params.client_info.name, params.client_info.version)
        return client_caller(name, version, self._memory.config.mcp.trusted_clients)

    def _memory_of(self, caller: Caller) -> Memory:
        """The store on behalf of a caller; of many the latest are kept."""
        memory = self._callers.pop(caller, None) or self._memory.called_by(caller)
        self._callers[caller] = memory
        if len(self._callers) > _MOST_CALLERS:
            del self._callers[next(iter(self._callers))]
        return memory

    async def _in_turn(self, act: Callable[[], Result[str, Error]]) -> Result[str, Error]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: _without_raising(act))


def _without_raising(act: Callable[[], Result[str, Error]]) -> Result[str, Error]:
    try:
        return act()
    except Exception as bug:  # noqa: BLE001 - the outermost frame of a call: one that fails must not end the others
        return Failure(Defect("an MCP call", repr(bug)))


def _resource(memory: Memory, uri: str) -> Result[str, Error]:
    if uri == SECTION_URI:
        return acts.section(memory)
    if uri.startswith(ENTRY_URI):
        return acts.read_context(memory, AskedId(entry_id(uri.removeprefix(ENTRY_URI))))
    return Failure(
        UsageInvalid(f"There is no resource {uri[:200]!r}", f"There are {SECTION_URI} and {ENTRY_URI}{{id}}.")
    )


def _tool(tool: ToolListing) -> wire.Tool:
    hints = wire.ToolAnnotations(
        read_only_hint=tool.hints.reads_only,
        destructive_hint=tool.hints.destroys,
        idempotent_hint=tool.hints.idempotent,
        open_world_hint=False,
    )
    return wire.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


def _result(done: Result[str, Error]) -> wire.CallToolResult:
    match sealed(done):
        case Failure(error):
            return wire.CallToolResult(content=[wire.TextContent(type="text", text=error_text(error))], is_error=True)
        case Success(text):
            return wire.CallToolResult(content=[wire.TextContent(type="text", text=text)])
