"""Any program of the user's as a process: what it prints, and that nothing is left of it."""

from __future__ import annotations

import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from rocketchaos.harness.core.errors import EnvironmentNotReady, PreconditionNotMet, RequestFailed
from rocketchaos.harness.core.model import Trouble
from rocketchaos.harness.language.app_spec import App
from rocketchaos.harness.workers import program_log
from rocketchaos.harness.workers.command_home import CommandHome, command_of
from rocketchaos.harness.workers.printed_output import LONGEST_LINE_BYTES, Lines
from rocketchaos.harness.workers.worker import Worker
from rocketchaos.harness.workers.worker_events import WorkerEvent
from rocketchaos.harness.workers.worker_kinds import KINDS

SEES = r"handled (?P<key>\S+)"


class Begun:
    """A program, and what was heard of it."""

    def __init__(self, folder: Path, body: str, sees: str, ready: str | None, ends: bool) -> None:
        script = folder / "program.py"
        script.write_text(body)
        fields: dict[str, Any] = {} if ready is None else {"ready": {"log": ready}}
        app = App.model_validate(
            {"command": [sys.executable, "program.py"], "sees": {"log": sees}, "env": {"SAID": "x"}, **fields}
        )
        scenario = folder / "own.scenario.yaml"
        scenario.touch()
        self.events: list[WorkerEvent] = []
        self.deaths: list[tuple[str, Trouble]] = []
        self.dead = threading.Event()
        self.log = folder / "a.log"
        self.worker = Worker.spawn(
            KINDS["command"],
            "a",
            home=CommandHome("owner", app, str(scenario)),
            log_folder=folder,
            on_event=self.events.append,
            on_death=self._died,
        )
        if not ends:
            self.worker.wait_ready(10)

    def _died(self, _name: str, reason: str, trouble: Trouble) -> None:
        self.deaths.append((reason, trouble))
        self.dead.set()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [dict(event.data) for event in self.events if event.kind == "line"]

    def until(self, count: int) -> None:
        """Wait until so many of its lines were found."""

        @retry(stop=stop_after_delay(20), wait=wait_fixed(0.02))
        def there() -> None:
            assert len(self.lines) >= count

        there()


Begin = Callable[..., Begun]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    begun: list[Begun] = []

    def of(body: str, sees: str = SEES, ready: str | None = None, *, ends: bool = False) -> Begun:
        """`ends`: at once, so that it may be over before anybody looks."""
        begun.append(Begun(tmp_path, body, sees, ready, ends))
        return begun[-1]

    yield of
    for item in begun:
        item.worker.release()


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02))
def gone(pid: int) -> None:
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_lines_that_say_that_it_handled_a_message_become_events(begin: Begin) -> None:
    program = begin("""\
import os, sys, time
print("started", os.environ["SAID"], os.getcwd())
print("INFO handled orders-1 at once", file=sys.stderr)
print("failed orders-2")
print("handled orders-3, handled orders-4")
time.sleep(60)
""")
    program.until(3)
    assert [item["key"] for item in program.lines] == ["orders-1", "orders-3,", "orders-4"]
    assert program.lines[0]["line"] == "INFO handled orders-1 at once"
    assert program.worker.request("printed", 10) == {
        "lines": 4,
        "found": 2,
        "ready": True,
        "last": "handled orders-3, handled orders-4",
    }
    assert f"started x {program.log.parent}" in program.log.read_text()


def test_what_it_has_printed_before_comes_before_an_answer(begin: Begin) -> None:
    program = begin(
        """\
import time
print("go")
for number in range(2000):
    print(f"handled orders-{number}")
print("done")
time.sleep(60)
""",
        ready="^done$",
    )
    program.until(2000)
    program.worker.request("ping", 10)
    assert program.worker.request("printed", 10)["ready"] is True
    assert len(program.lines) == 2000


def test_what_it_can_not_do_is_reported(begin: Begin) -> None:
    program = begin("import time\ntime.sleep(60)\n")
    with pytest.raises(RequestFailed, match="can't do this"):
        program.worker.request("subscribe", 10)
    assert program.worker.request("printed", 10) == {"lines": 0, "found": 0, "ready": True, "last": ""}


def test_a_line_without_an_end_is_its_last(begin: Begin) -> None:
    program = begin("import sys, time\nsys.stdout.write('x' * 3000)\nsys.stdout.flush()\ntime.sleep(60)\n")

    @retry(stop=stop_after_delay(20), wait=wait_fixed(0.02))
    def printed() -> None:
        assert program.worker.request("printed", 10)["last"] == "x" * 200

    printed()


def test_bytes_long_lines_and_megabytes_take_no_more_memory(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_log, "LOG_LIMIT_BYTES", 1_000_000)
    program = begin("""\
import sys, time
out = sys.stdout.buffer
out.write(bytes(range(256)) * 100 + b"\\n")
for _ in range(40):
    out.write(b"x" * 1_000_000)
out.write(b" handled orders-1\\n\\xff handled orders-2\\r\\nhandled orders-3")
out.flush()
print("\\nlast words")
time.sleep(60)
""")
    program.until(2)
    # What stands behind the first kilobytes of a line isn't looked at.
    assert [item["key"] for item in program.lines] == ["orders-2", "orders-3"]
    program.worker.kill()
    text = program.log.read_bytes()
    assert 1_000_000 < len(text) < 1_100_000
    assert b"bytes are left out here" in text
    assert text.endswith(b"last words\n")
    (cut,) = (event.data for event in program.events if event.kind == "output-cut")
    assert cut["log"] == "a.log"
    assert f"[rocketchaos: {cut['left_out_bytes']} bytes are left out here]".encode() in text


def test_lines_are_kept_up_to_a_length() -> None:
    lines = Lines()
    assert list(lines.add(b"a\nb")) == ["a"]
    assert list(lines.add(b"c\r\n" + b"d" * (3 * LONGEST_LINE_BYTES))) == ["bc"]
    assert list(lines.add(b"e\n")) == ["d" * LONGEST_LINE_BYTES]
    assert list(lines.end()) == []
    assert list(lines.add(b"f")) == []
    assert list(lines.end()) == ["f"]


def test_one_that_ends_says_how_and_its_last_words(begin: Begin) -> None:
    program = begin("print('handled orders-1')\nprint('no database')\nraise SystemExit(3)\n", ends=True)
    assert program.dead.wait(10)
    ((reason, trouble),) = program.deaths
    assert trouble is Trouble.ENVIRONMENT
    assert "exit code 3" in reason
    assert "no database" in reason
    # Printed just before its end, and told all the same.
    assert [item["key"] for item in program.lines] == ["orders-1"]


CHILDREN = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
stray = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(f"handled {child.pid}")
print(f"handled {stray.pid}")
if ENDS:
    sys.exit(0)
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["kill", "end", "stop", "terminate"])
def test_nothing_is_left_of_what_it_has_started(begin: Begin, how: str) -> None:
    program = begin(CHILDREN.replace("ENDS", str(how == "end")))
    program.until(2)
    if how == "kill":
        program.worker.kill()
    elif how == "stop":
        program.worker.stop(1)
    elif how == "terminate":
        program.worker.terminate()
        program.worker.wait_terminated(10)
        assert program.deaths == []
    else:
        assert program.dead.wait(10)
    for item in program.lines:
        gone(int(item["key"]))


def test_one_that_ignores_sigterm_gets_a_way_out(begin: Begin) -> None:
    ignores = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    program = begin(f"{ignores}print('handled 1')\ntime.sleep(60)\n")
    program.until(1)
    program.worker.terminate()
    with pytest.raises(PreconditionNotMet, match=r"^the process .* and has not ended") as refused:
        program.worker.wait_terminated(0.2)
    assert "A real deployment kills it" in refused.value.hint
    program.worker.release()


def test_it_stands_still_and_goes_on(begin: Begin) -> None:
    program = begin("import time\nfor n in range(10**6):\n    print(f'handled {n}')\n    time.sleep(0.01)\n")
    program.until(3)
    program.worker.pause()
    assert psutil.Process(program.worker.pid).status() == psutil.STATUS_STOPPED
    program.worker.request("ping", 10)
    before = len(program.lines)
    program.worker.request("ping", 10)
    assert len(program.lines) == before
    program.worker.resume()
    program.until(before + 3)


def test_where_a_program_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = tmp_path / "shop" / "own.scenario.yaml"
    scenario.parent.mkdir()
    scenario.touch()
    monkeypatch.chdir(tmp_path)

    def found(*command: str) -> tuple[str, ...]:
        app = App.model_validate({"command": list(command), "sees": {"log": SEES}})
        return command_of(app, str(scenario))

    with pytest.raises(EnvironmentNotReady, match=r"the program doesn't exist: .*/shop/audit, .*/audit"):
        found("./audit")
    program = scenario.parent / "audit"
    program.touch()
    with pytest.raises(EnvironmentNotReady, match=r"can't be executed: .*/audit"):
        found("./audit")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert found("./audit", "./x") == (str(program), "./x")
    with pytest.raises(EnvironmentNotReady, match="`audit` is not on the PATH") as error:
        found("audit")
    assert "write `./audit`" in str(error.value)
    assert found("sh", "-c")[0].endswith("/sh")


def test_what_is_no_program_is_one_message(tmp_path: Path) -> None:
    program = tmp_path / "audit"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    scenario = tmp_path / "own.scenario.yaml"
    scenario.touch()
    app = App.model_validate({"command": ["./audit"], "sees": {"log": SEES}})
    with pytest.raises(EnvironmentNotReady, match=r"the program of a can't be started: .*format"):
        Worker.spawn(
            KINDS["command"],
            "a",
            home=CommandHome("owner", app, str(scenario)),
            log_folder=tmp_path,
            on_event=lambda _event: None,
            on_death=lambda *_: None,
        )
