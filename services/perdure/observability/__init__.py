"""Logs, metrics and traces of every process; knows nothing of memories."""
