"""The MCP server: `tools` knows what agents may call, `server` the SDK."""
