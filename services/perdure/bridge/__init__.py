"""The stdio bridge: what a tool's host starts, one short-lived process per host.

Knows: JSON-RPC lines on stdin and stdout, the gateway's MCP endpoint over HTTP, how to start the local services.
Refuses to know: anything else of perdure, and anything that is not in the standard library, because a host waits for
its first answer.
"""
