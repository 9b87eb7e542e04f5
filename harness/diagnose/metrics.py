"""The findings of a watch as Prometheus metrics, by HTTP, for as long as it lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from rocketchaos.harness.core.errors import EnvironmentNotReady
from rocketchaos.harness.diagnose.diagnosis import Report


class Metrics:
    """Serves the last result, and whether anybody is reachable."""

    def __init__(self, host: str, port: int) -> None:
        """
        Raises:
            EnvironmentNotReady: nothing can be served there.
        """
        self.text = ""
        """As it is served."""
        self._last: Report | None = None
        try:
            self._server = ThreadingHTTPServer((host, port), self._handler())
        except OSError as error:
            raise EnvironmentNotReady(
                f"no metrics can be served at {host}:{port}: {error.strerror}", "Give another `--metrics`."
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def port(self) -> int:
        """Where they are served."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Metrics:
        self._thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def tell(self, report: Report) -> None:
        """From now on this is served."""
        self.text = _text(lines(report))
        self._last = report

    def lose(self) -> None:
        """From now on nobody is reachable: the last result stays."""
        if self._last is not None:
            self.text = _text(lines(self._last, reachable=False))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        metrics = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = metrics.text.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_unused: object) -> None:
                """Says nothing."""

        return Handler


def _text(of: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in of)


def lines(report: Report, *, reachable: bool = True) -> Iterator[str]:
    """The text format of Prometheus."""
    yield "# HELP rocketchaos_diagnose_reachable 0: nobody answers now; all else is of the last look with answers."
    yield "# TYPE rocketchaos_diagnose_reachable gauge"
    yield f"rocketchaos_diagnose_reachable {int(reachable)}"
    yield "# HELP rocketchaos_diagnose_finding What is wrong now."
    yield "# TYPE rocketchaos_diagnose_finding gauge"
    # Several members may have the same finding: Prometheus takes each set of labels once.
    for code, level, group, topic in dict.fromkeys(
        (item.check.code, str(item.level), item.group, item.topic) for item in report.findings
    ):
        yield f"rocketchaos_diagnose_finding{_labels(code=code, level=level, group=group, topic=topic)} 1"
    yield "# HELP rocketchaos_diagnose_undetermined What could not be determined now."
    yield "# TYPE rocketchaos_diagnose_undetermined gauge"
    for code, group, topic in sorted(
        {(item.check.code, item.group, item.topic) for item in report.undetermined}
    ):
        yield f"rocketchaos_diagnose_undetermined{_labels(code=code, group=group, topic=topic)} 1"
    yield "# HELP rocketchaos_diagnose_last_look_timestamp_seconds When somebody last answered."
    yield "# TYPE rocketchaos_diagnose_last_look_timestamp_seconds gauge"
    yield f"rocketchaos_diagnose_last_look_timestamp_seconds {report.looks[-1].at_ms / 1000:.3f}"


def _labels(**labels: str) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items()) + "}"
