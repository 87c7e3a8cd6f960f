"""What the issues ask for, one id a requirement; tests cite ids with ``@pytest.mark.requirement``.

``tests/docs/test_requirements.py`` fails where a requirement has no test, or a test cites an id that is not here.
Figures of speed and quality are no tests: ``make bench`` and ``make quality`` measure them.
"""

from __future__ import annotations

REQUIREMENTS: dict[str, tuple[str, str]] = {
    "SKEL-01": ("issue 2, skeleton", "The command line has every command that the issue names."),
    "SKEL-02": ("issue 2, skeleton", "Every setting is typed and documented, and the documentation names no other."),
    "SKEL-03": ("issue 2, skeleton", "Logs are structured and never hold memory text, queries, vectors or tokens."),
    "SKEL-04": ("issue 2, skeleton", "Metrics are named perdure_<part>_<thing>_<unit> and never labelled by id."),
    "SKEL-05": (
        "issue 2, skeleton",
        "Errors are one taxonomy with a code, a reason, a sentence and flat details on every surface.",
    ),
    "SKEL-06": ("issue 2, skeleton", "The README's first recall gives the README's output."),
    "SKEL-07": ("issue 2, skeleton", "Links in the documentation lead somewhere, and pages named in the code exist."),
    "SKEL-08": ("issue 2, skeleton", "Two homes with two ports run side by side."),
    "STORE-01": (
        "issue 2, store",
        "One conformance suite holds the SQLite and the in-memory backend to the same answers.",
    ),
    "STORE-02": (
        "issue 2, store",
        "Filters act before the top-k in both arms, on the resident matrix and in the file alike, with "
        "the same answers as a plain scan.",
    ),
    "STORE-03": ("issue 2, store", "A file of a newer schema is refused with a clear sentence, untouched."),
    "STORE-04": ("issue 2, store", "A corrupt or foreign file is refused and left byte-identical."),
    "STORE-05": ("issue 2, store", "Every query carries a namespace; nothing crosses from one to another."),
    "STORE-06": ("issue 2, store", "An online backup is a consistent store of its own."),
    "STORE-07": (
        "issue 2, store",
        "A check compares rows, vectors and full text; repair rebuilds the index and never touches rows.",
    ),
    "STORE-08": ("issue 2, store", "An SQLite with the WAL-reset race is refused."),
    "STORE-09": ("issue 2, store", "NaN and infinity are no vectors."),
    "STORE-10": ("issue 2, store", "Row, vector, full text, history and outbox change in one transaction."),
    "STORE-11": ("issue 2, store", "History keeps who changed a memory, when, why and what it said before."),
    "STORE-12": ("issue 2, store", "Purge erases a memory everywhere, to the last byte of the file."),
    "STORE-13": ("issue 2, store", "The home is mode 0700 and its files 0600."),
    "EMB-01": (
        "issue 2, embedding service",
        "auto is the embedded model; a key lying in the environment never switches the provider.",
    ),
    "EMB-02": ("issue 2, embedding service", "The model loads in the background; nothing waits for it at a handshake."),
    "EMB-03": (
        "issue 2, embedding service",
        "Ollama and OpenAI-compatible servers are providers behind the same port.",
    ),
    "EMB-04": ("issue 2, embedding service", "A folder with an ONNX model is a provider, as an extra."),
    "EMB-05": (
        "issue 2, embedding service",
        "Texts of several callers are batched together; each gets what it would get alone.",
    ),
    "EMB-06": (
        "issue 2, embedding service",
        "Vectors are cached in memory and on disk, keyed by space and text hash; no text is written.",
    ),
    "EMB-07": (
        "issue 2, embedding service",
        "Remote providers have time-outs, retries with back-off and a circuit breaker.",
    ),
    "EMB-08": ("issue 2, embedding service", "Truncation is reported."),
    "EMB-09": ("issue 2, embedding service", "Queries and documents get the prefixes of their model."),
    "EMB-10": ("issue 2, embedding service", "The space is fingerprinted: model file, mean, prefixes, layout."),
    "EMB-11": ("issue 2, embedding service", "A model file with another sha256 is refused."),
    "EMB-12": (
        "issue 2, embedding service",
        "A changed space never mixes with the old; meanwhile words find, said so.",
    ),
    "EMB-13": ("issue 2, embedding service", "reembed goes side by side, can be resumed, and switches at the end."),
    "EMB-14": (
        "issue 2, embedding service",
        "A long text is averaged over windows; a NUL or a lone surrogate does not cut or stop it.",
    ),
    "EMB-15": ("issue 2, embedding service", "A question does not wait behind background work."),
    "EMB-16": ("issue 2, embedding service", "Thresholds belong to the space; an unmeasured space gets its own."),
    "SAVE-01": ("issue 2, retrieval service: saving", "A saved memory is found by its words and read by its id."),
    "SAVE-02": (
        "issue 2, retrieval service: saving",
        "The same normalised text in one project and type is one memory.",
    ),
    "SAVE-03": ("issue 2, retrieval service: saving", "Saving to a key replaces the memory, with history."),
    "SAVE-04": ("issue 2, retrieval service: saving", "A near twin that says the same is merged; nothing is dropped."),
    "SAVE-05": (
        "issue 2, retrieval service: saving",
        "A changed statement supersedes the older, which is linked and out of search.",
    ),
    "SAVE-06": ("issue 2, retrieval service: saving", "In doubt a memory is created, with a related link."),
    "SAVE-07": ("issue 2, retrieval service: saving", "Nothing is merged across projects."),
    "SAVE-08": ("issue 2, retrieval service: saving", "A zero or missing vector is never a twin."),
    "SAVE-09": ("issue 2, retrieval service: saving", "Secrets are redacted and named, in every way in."),
    "SAVE-10": (
        "issue 2, retrieval service: saving",
        "Without an embedder a save succeeds (embedded: false), is found by words, and is embedded and resolved later.",
    ),
    "SAVE-11": (
        "issue 2, retrieval service: saving",
        "A batch of up to 500 answers one outcome each; one bad item spoils none.",
    ),
    "SAVE-12": ("issue 2, retrieval service: saving", "A checkpoint is a fact with its parts and its confidence."),
    "SAVE-13": (
        "issue 2, retrieval service: saving",
        "Confidence and tier follow from provenance; an explicit confidence wins.",
    ),
    "SAVE-14": ("issue 2, retrieval service: saving", "A summary is the first real sentence, at most 80 characters."),
    "SAVE-15": (
        "issue 2, retrieval service: saving",
        "An edit re-embeds: found under its new words, not under its old ones.",
    ),
    "SAVE-16": ("issue 2, retrieval service: saving", "Archive hides, restore brings back."),
    "SAVE-17": ("issue 2, retrieval service: saving", "Export and import lose nothing; importing twice is harmless."),
    "SEARCH-01": ("issue 2, retrieval service: search", "Search goes in stages: recognition, recall, association."),
    "SEARCH-02": (
        "issue 2, retrieval service: search",
        "The score is the product of its documented parts, and every hit carries them.",
    ),
    "SEARCH-03": (
        "issue 2, retrieval service: search",
        "Popularity and age never lift an unrelated memory over an exact match.",
    ),
    "SEARCH-04": ("issue 2, retrieval service: search", "Below the floor the answer is an honest no match."),
    "SEARCH-05": ("issue 2, retrieval service: search", "A fall back to words alone is never silent."),
    "SEARCH-06": (
        "issue 2, retrieval service: search",
        "With a project, depth 2 widens to other projects and says so; strict never widens.",
    ),
    "SEARCH-07": (
        "issue 2, retrieval service: search",
        "Filters: project, type, tags, concepts, files, time range, tier, status.",
    ),
    "SEARCH-08": (
        "issue 2, retrieval service: search",
        "Delivery in full moves access_count; a summary moves shown_count only.",
    ),
    "SEARCH-09": (
        "issue 2, retrieval service: search",
        "Words work for identifiers, whole and by their parts, and for CJK down to one character.",
    ),
    "SEARCH-10": (
        "issue 2, retrieval service: search",
        "An answer for a model is capped and cut on grapheme boundaries; memory_get leads to the rest.",
    ),
    "SEARCH-11": ("issue 2, retrieval service: search", "An expired memory is never returned."),
    "SEARCH-12": (
        "issue 2, retrieval service: search",
        "The true cosine of every candidate is computed, also of those found by words only.",
    ),
    "SEARCH-13": ("issue 2, retrieval service: search", "Near-duplicates do not fill the answer."),
    "SEARCH-14": (
        "issue 2, retrieval service: search",
        "Decay has the documented ages: 0.3 after 104 days and 0.1 after 199 for a save.",
    ),
    "SEARCH-15": ("issue 2, retrieval service: search", "A list runs by cursor without gap or overlap."),
    "ACCESS-01": (
        "issue 2, access",
        "Locally a request without a token is the namespace default; elsewhere a token is needed.",
    ),
    "ACCESS-02": ("issue 2, access", "Local access on an address others can reach is refused at start."),
    "ACCESS-03": (
        "issue 2, access",
        "Only a hash of a token is stored; a wrong secret is as invalid as an unknown token.",
    ),
    "ACCESS-04": (
        "issue 2, access",
        "A token is bound to one namespace and to scopes, with expiry, revocation and last use.",
    ),
    "ACCESS-05": ("issue 2, access", "Scopes are enforced on each route and each tool."),
    "ACCESS-06": ("issue 2, access", "Host and Origin are checked."),
    "ACCESS-07": ("issue 2, access", "Two tenants: nothing crosses on any path, and existence does not leak."),
    "ACCESS-08": ("issue 2, access", "gRPC over TCP needs the internal token; sockets are the owner's alone."),
    "ACCESS-09": ("issue 2, access", "Guessing tokens is slowed down by address."),
    "REST-01": (
        "issue 2, gateway: REST",
        "Every route of the issue exists, with OpenAPI and examples, and is documented.",
    ),
    "REST-02": ("issue 2, gateway: REST", "NaN Forget's paths, field names and success shapes keep working."),
    "REST-03": (
        "issue 2, gateway: REST",
        "Idempotency-Key replays the first answer; with another request it is a conflict.",
    ),
    "REST-04": ("issue 2, gateway: REST", "If-Match guards a change by revision."),
    "REST-05": (
        "issue 2, gateway: REST",
        "Wrong type, unknown field, out of range, too large, bad JSON, wrong content type: each its own "
        "clear 4xx problem.",
    ),
    "REST-06": ("issue 2, gateway: REST", "healthz never touches the store; readyz names each dependency."),
    "REST-07": ("issue 2, gateway: REST", "The instructions for agents without MCP are served."),
    "REST-08": ("issue 2, gateway: REST", "An import is a stream: larger than a body, bad lines reported by number."),
    "REST-09": ("issue 2, gateway: REST", "The cause of a defect is withheld; the request id leads to it."),
    "MCP-01": ("issue 2, gateway: MCP", "An MCP client saves, finds, corrects and archives, in both protocol eras."),
    "MCP-02": ("issue 2, gateway: MCP", "Mistakes are answers a model can act on."),
    "MCP-03": ("issue 2, gateway: MCP", "A memory cannot forge a second memory or an instruction in an answer."),
    "MCP-04": ("issue 2, gateway: MCP", "Toolsets keep the list small; more are shown when asked for."),
    "MCP-05": ("issue 2, gateway: MCP", "Tools have annotations and descriptions that say when to call."),
    "MCP-06": ("issue 2, gateway: MCP", "Tools take NaN Forget's argument names."),
    "MCP-07": ("issue 2, gateway: MCP", "The endpoint is stateless, without a redirect."),
    "CLI-01": ("issue 2, command line", "Text that begins with a dash works; a lone dash reads standard input."),
    "CLI-02": ("issue 2, command line", "--json everywhere an answer is given."),
    "CLI-03": ("issue 2, command line", "Exit codes mean something."),
    "CLI-04": ("issue 2, command line", "A typo suggests the command."),
    "CLI-05": ("issue 2, command line", "Tables and colour on a terminal only."),
    "CLI-06": ("issue 2, command line", "up runs the processes and starts again what ends; down stops them."),
    "CLI-07": ("issue 2, command line", "doctor names each thing that is wrong and the command that mends it."),
    "CLI-08": (
        "issue 2, command line",
        "What is added is found, listed, changed and erased against the real services.",
    ),
    "BRIDGE-01": ("issue 2, stdio bridge", "The standard library only."),
    "BRIDGE-02": (
        "issue 2, stdio bridge",
        "Transparent: bodies pass byte for byte, in both eras, with headers from _meta.",
    ),
    "BRIDGE-03": ("issue 2, stdio bridge", "A legacy 404 opens the session again without the host noticing."),
    "BRIDGE-04": ("issue 2, stdio bridge", "It ends on EOF and on its parent's death."),
    "BRIDGE-05": ("issue 2, stdio bridge", "Only JSON-RPC on stdout, by one writer."),
    "BRIDGE-06": (
        "issue 2, stdio bridge",
        "It starts the local services when nothing answers and nothing else is configured, once however many ask.",
    ),
    "BRIDGE-07": (
        "issue 2, stdio bridge",
        "Meanwhile it answers initialize and tools/list at once, with the gateway's own catalogue.",
    ),
    "BRIDGE-08": ("issue 2, stdio bridge", "It adds the local tool memory_start."),
    "BRIDGE-09": ("issue 2, done when 4", "A restart of the services between two calls is not noticed."),
    "JOB-01": (
        "issue 2, maintenance, worker, beat, broker",
        "Jobs are started, listed, read and cancelled, with progress.",
    ),
    "JOB-02": (
        "issue 2, maintenance, worker, beat, broker",
        "One unfinished job of a kind; a job runs under one lease, which lapses with its worker.",
    ),
    "JOB-03": ("issue 2, maintenance, worker, beat, broker", "The local broker keeps work on disk and opens no port."),
    "JOB-04": ("issue 2, maintenance, worker, beat, broker", "Any Redis can be the broker."),
    "JOB-05": ("issue 2, maintenance, worker, beat, broker", "Idempotency keys expire."),
    "JOB-06": (
        "issue 2, maintenance, worker, beat, broker",
        "Access counts are flushed off the request path, the last ones when the service stops.",
    ),
    "COMPOSE-01": ("issue 2, compose", "The compose file runs the Procfile's processes, each by its own command."),
    "COMPOSE-02": (
        "issue 2, compose",
        "Every variable of the compose file is in env.example, and every name is a setting.",
    ),
    "COMPOSE-03": ("issue 2, compose", "No process runs as root; nothing but the gateway is published."),
    "COMPOSE-04": ("issue 2, compose", "Health checks, and depends_on with conditions."),
    "COMPOSE-05": ("issue 2, compose", "One named volume holds the store for all that open it."),
    "FAULT-01": (
        "issue 2, bad input and faults",
        "Kill -9 at random points: no acknowledged save is missing and the store is clean.",
    ),
    "FAULT-02": ("issue 2, bad input and faults", "Disk full: a clear error, nothing half-written."),
    "FAULT-03": ("issue 2, bad input and faults", "Six processes that add one text at once make one memory."),
    "FAULT-04": ("issue 2, bad input and faults", "Retrieval down: 503 with Retry-After."),
    "FAULT-05": ("issue 2, bad input and faults", "Short CJK queries, Cyrillic, accents, emoji, RTL: right answers."),
    "FAULT-06": ("issue 2, bad input and faults", "NUL bytes and lone surrogates: a right answer or a clear error."),
    "FAULT-07": ("issue 2, bad input and faults", "NFC and NFD are one text."),
    "FAULT-08": ("issue 2, bad input and faults", "Content of 32 KiB is kept whole, one byte more is too large."),
    "FAULT-09": ("issue 2, bad input and faults", "Readers and writers at once never meet a lock."),
    "FAULT-10": (
        "issue 2, bad input and faults",
        "A call made while a service restarts succeeds where repeating is harmless.",
    ),
    "FAULT-11": ("issue 2, bad input and faults", "Text that would command the terminal is disarmed."),
    "QUALITY-01": (
        "issue 2, it must reach",
        "The Chinese and the Japanese set have at least 60 memories and 60 questions each.",
    ),
    "QUALITY-02": ("issue 2, it must reach", "The LoCoMo run skips where the data is absent."),
    "JOB-07": ("issue 2, maintenance, worker, beat, broker", "A killed worker's job is done by another within 25 s."),
    "JOB-08": ("issue 2, maintenance, worker, beat, broker", "A broker that is away delays, and loses nothing."),
    "FAULT-12": ("issue 2, it must reach", "Every acknowledged save is present after kill -9 of every process."),
    "DONE-02": (
        "issue 2, done when 2",
        "A memory saved by command line, REST, MCP over HTTP in both eras and the bridge is found by "
        "each of the others.",
    ),
    "DONE-04": (
        "issue 2, done when 4",
        "All services are killed and restarted between two calls of one open MCP client, which notices nothing.",
    ),
    "DONE-06": ("issue 2, done when 6", "Each number that the documentation states is that of the code."),
}
"""Id to source and sentence."""
