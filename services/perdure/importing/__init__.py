"""Moving in: what other memories and files hold, as lines for the gateway's import.

One module a source. Each reads, never writes; yields drafts with their own times, and remarks for what it did not
understand or left out. Knows no gateway, no terminal and no store of ours.
"""
