"""The gateway: REST, MCP over HTTP, access, limits. Async; holds no memory of its own and never opens the store."""
