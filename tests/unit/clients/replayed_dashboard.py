"""Recorded answers of real dashboards, told again over HTTP, for tests of the client alone. Never a result."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

RECORDED = Path(__file__).parents[2] / "recorded" / "dashboard"


def recorded(name: str) -> str:
    """One answer as it was recorded: `1.0.0/groups`."""
    return (RECORDED / f"{name}.json").read_text(encoding="utf-8")


@dataclass
class Replayed:
    """What is told, and what was asked."""

    url: str
    answers: dict[str, str]
    """By path; a path that isn't there is answered with 404."""
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    """Path and parameters of each request."""


@contextmanager
def replaying(answers: Mapping[str, str]) -> Iterator[Replayed]:
    """A server on loopback that gives these answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            shown.asked.append((parts.path, dict(parse_qsl(parts.query))))
            body = shown.answers.get(parts.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write((body or "<html>").encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shown = Replayed(f"http://127.0.0.1:{server.server_port}", dict(answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
