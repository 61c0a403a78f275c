"""The MCP server: what agents call while they work. Nothing here but `serving`, `stdio` and `http` knows the SDK."""
