"""Perdure: long-term memory for AI agents.

This module knows the version and nothing else; importing it costs nothing.
"""

__version__ = "0.1.0"
