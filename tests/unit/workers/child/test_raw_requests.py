"""Bodies as JSON can carry them; no JVM needed."""

from __future__ import annotations

from rocketchaos.harness.workers.child.raw_requests import printable


def test_a_body_is_text_or_base64_and_never_both() -> None:
    assert printable(b'{"a":"\xc3\xa4"}') == {"body": '{"a":"ä"}', "body_base64": None}
    assert printable(b"\xda\xa3\x20\xa7") == {"body": None, "body_base64": "2qMgpw=="}
    assert printable(b"") == {"body": None, "body_base64": None}
