"""Without an endpoint or its SDK nothing is traced, and nobody's trace is broken."""

from __future__ import annotations

import contextlib
import types

import structlog

from perdure.observability import context, tracing

TRACE = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


def test_without_an_endpoint_the_callers_trace_goes_on():
    tracer = tracing.make_tracer("", "gateway")
    with tracer.span("x", parent=TRACE):
        assert tracer.outgoing() == TRACE
        with tracer.span("y"):
            assert tracer.outgoing() == TRACE
    assert tracer.outgoing() == ""
    tracer.close()


def test_without_the_sdk_it_is_said_once_and_nothing_is_traced():
    def absent(name):
        raise ImportError(name=name)

    with structlog.testing.capture_logs() as lines:
        tracer = tracing.make_tracer("http://collector:4318", "gateway", load=absent)
    assert isinstance(tracer, tracing.PassThrough)
    assert [line["event"] for line in lines] == ["tracing.skipped"]


class Sdk:
    """As much of OpenTelemetry as the tracer touches."""

    def __init__(self):
        self.spans, self.endpoints, self.processors, self.closed = [], [], [], False

    def load(self, name):
        return {
            "opentelemetry.trace": types.SimpleNamespace(),
            "opentelemetry.trace.propagation.tracecontext": types.SimpleNamespace(
                TraceContextTextMapPropagator=lambda: self
            ),
            "opentelemetry.sdk.trace": types.SimpleNamespace(TracerProvider=lambda resource: self),
            "opentelemetry.sdk.trace.export": types.SimpleNamespace(BatchSpanProcessor=lambda exporter: exporter),
            "opentelemetry.sdk.resources": types.SimpleNamespace(Resource=types.SimpleNamespace(create=dict)),
            "opentelemetry.exporter.otlp.proto.http.trace_exporter": types.SimpleNamespace(
                OTLPSpanExporter=lambda endpoint: self.endpoints.append(endpoint)
            ),
        }[name]

    def add_span_processor(self, processor):
        self.processors.append(processor)

    def get_tracer(self, name):
        return self

    @contextlib.contextmanager
    def start_as_current_span(self, name, context, **options):
        assert options == {"record_exception": False, "set_status_on_exception": False}
        self.spans.append((name, context))
        yield

    def extract(self, carrier):
        return carrier["traceparent"]

    def inject(self, carrier):
        carrier["traceparent"] = TRACE

    def shutdown(self):
        self.closed = True


def test_with_the_sdk_spans_are_children_of_the_caller_and_exceptions_stay_out_of_them():
    sdk = Sdk()
    tracer = tracing.make_tracer("http://collector:4318/", "retrieval", load=sdk.load)
    with tracer.span("rpc", parent=TRACE), tracer.span("inner"):
        assert tracer.outgoing() == context.traceparent() == TRACE
    tracer.close()
    assert sdk.spans == [("rpc", TRACE), ("inner", None)]
    assert sdk.endpoints == ["http://collector:4318/v1/traces"]
    assert sdk.closed
