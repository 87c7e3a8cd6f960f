"""The hooks: what a coding tool runs at the moments of its session, a process of a fraction of a second each time.

Knows: each host's payload and answer, transcripts, the gateway's REST side. Refuses to know: anything else of perdure,
and anything that is not in the standard library, because a person waits for it at every prompt. Whatever goes wrong,
the host sees exit status 0 and no output.

The modules stay away from ``pathlib``, ``dataclasses``, ``http.client`` and ``subprocess``: importing these costs more
than the rest of a run.
"""
