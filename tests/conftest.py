"""Settings for all tests, and a Census Bureau on this machine."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine and every run; no deadline, because machines are shared.
settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")


@pytest.fixture
def bureau():
    """A small Census Bureau on this machine: what each state answers can be set."""
    answers, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            state = self.path.rpartition("csv_p")[2].removesuffix(".zip").upper()
            answer = answers[state].pop(0) if len(answers[state]) > 1 else answers[state][0]
            answer(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/pums", answers, asked
    server.shutdown()
    server.server_close()
