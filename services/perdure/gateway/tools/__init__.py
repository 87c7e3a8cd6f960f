"""The MCP side of the gateway: tools, their texts, and the mount of the SDK's server."""
