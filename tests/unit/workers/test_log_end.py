"""The end of what a program printed, for messages."""

from __future__ import annotations

from pathlib import Path

from rocketchaos.harness.workers.program_log import last_lines

TRACE = """\
java.lang.IllegalStateException: Failed to start RocketMQ push consumer
{frames}
Caused by: io.netty.handler.ssl.NotSslRecordException: not an SSL/TLS record
{frames}
\t... 1 common frames omitted
"""
FRAMES = "\n".join(
    f"\tat org.apache.rocketmq.shaded.io.grpc.Status$Call.run(Status.java:{number}) ~[client.jar!/:na]"
    for number in range(20)
)


def test_the_causes_of_a_stack_trace_are_not_pushed_out_by_its_frames(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(TRACE.format(frames=FRAMES))
    assert last_lines(log).splitlines() == [
        f"the end of {log}:",
        "    java.lang.IllegalStateException: Failed to start RocketMQ push consumer",
        "    Caused by: io.netty.handler.ssl.NotSslRecordException: not an SSL/TLS record",
    ]


def test_frames_alone_are_better_than_nothing(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(FRAMES)
    assert last_lines(log, 1).endswith("Status.java:19) ~[client.jar!/:na]")


def test_a_line_of_any_length_is_cut(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("x" * 5000)
    assert last_lines(log) == f"the end of {log}:\n    {'x' * 300} …"


def test_an_empty_log_and_one_that_is_gone_say_so(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    assert last_lines(log).startswith("its log can't be read: ")
    log.write_text("")
    assert last_lines(log) == f"it printed nothing: {log}"
