"""Paths and URIs as users write them, for stores and for run folders alike."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from rocketchaos.harness.cli import report_options
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.spark_reports import spark_session as session
from rocketchaos.spark_reports.ingest.folder_list import is_gone, run_folders
from rocketchaos.spark_reports.places import Place

NO_SPARK = cast(SparkSession, None)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("/a b/c%20d", "file:/a b/c%20d"),
        ("file:/a%20b", "file:/a b"),
        ("file:///a%20b", "file:/a b"),
        ("file://localhost/a", "file:/a"),
        ("hdfs:///store/", "hdfs:///store"),
        ("hdfs://name:8020/a b%20c", "hdfs://name:8020/a b%20c"),
        ("s3a://bucket", "s3a://bucket"),
    ],
)
def test_a_place_has_one_uri_not_encoded(text: str, uri: str) -> None:
    place = Place.of(text)
    assert place.uri == uri
    assert place.of_table("runs") == f"{uri}/runs"
    assert (place.folder is None) == (not uri.startswith("file:"))


@pytest.mark.parametrize("text", ["s3a://key:hidden-word@bucket/store", "hdfs://me:hidden-word@name/a"])
def test_a_password_in_a_uri_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageProblem, match="has a password in it") as raised:
        Place.of(text)
    assert "hidden-word" not in f"{raised.value} {raised.value.hint}"


def test_a_path_may_be_relative(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Place.of("store").folder == tmp_path / "store"
    assert Place.of("./a:b").folder == tmp_path / "a:b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "~no-such-user-at-all/x",
        "file:relative",
        "file:",
        "file://elsewhere/a",
        "hdfs:",
        "hdfs://",
        "hdfs:///",
        "s3a:///folder",
        "s3a:bucket/folder",
        "hdfs://[::1/a",
        "https://somewhere/store",
        "s3://bucket/store",
        "s3n://bucket/store",
    ],
)
def test_what_is_no_place_is_a_message_for_stores_and_for_runs(text: str) -> None:
    with pytest.raises(UsageProblem, match="is no place"):
        Place.of(text)
    with pytest.raises(UsageProblem, match="is no place"):
        run_folders(NO_SPARK, [text])


@pytest.mark.parametrize("name", ["n" * 300, "**x*", "n" * 5000 + "*"])
def test_names_that_can_be_nobodys_are_a_message(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageProblem):
        run_folders(NO_SPARK, [str(tmp_path / name)])


def test_what_is_gone_is_known_on_a_disk_and_below_what_was_listed(tmp_path: Path) -> None:
    assert not is_gone(f"file:{tmp_path}", ())
    assert is_gone(f"file:{tmp_path}/nowhere", ())
    there = "hdfs://name/runs/s/a"
    assert is_gone(there, (), ["hdfs://name/runs"])
    assert not is_gone(there, (there,), ["hdfs://name/runs"])
    assert not is_gone(there, (), ["hdfs:///run", "s3a://name/runs", "hdfs://other/runs", "/runs"])


def test_what_was_not_looked_at_is_not_gone() -> None:
    there = "hdfs://name/runs/s/a"
    assert is_gone(there, ("hdfs://name/runs/s/b",), ["hdfs:///runs"])
    assert not is_gone(there, ("hdfs://other/runs/s/b",), ["hdfs:///runs"])
    assert not is_gone("s3a://bucket/nightly/a", ("s3a://bucket/nightly1/a",), ["s3a://bucket/nightly?"])
    assert is_gone("s3a://bucket/a?b/s/a", (), ["s3a://bucket/a?b"])


def test_a_place_is_small_up_to_a_size_and_only_on_a_disk(tmp_path: Path) -> None:
    assert Place.of(str(tmp_path)).is_small()
    assert Place.of(str(tmp_path)).is_tiny()
    (tmp_path / "runs").mkdir()
    for name in ("one", "other"):
        with (tmp_path / "runs" / name).open("wb") as file:
            file.truncate(8 * 2**20)
    assert Place.of(str(tmp_path)).is_small()
    assert not Place.of(str(tmp_path)).is_tiny()
    (tmp_path / "more").write_bytes(b"1")
    assert not Place.of(str(tmp_path)).is_small()
    assert Place.of(str(tmp_path / "none")).is_tiny()
    assert not Place.of("hdfs:///store").is_small()


@pytest.mark.parametrize("small", [True, False])
def test_a_jvm_for_little_data_has_one_compiler(tmp_path: Path, small: bool) -> None:
    options = session._places(tmp_path, small, ())["spark.driver.extraJavaOptions"].split()
    assert ("-XX:TieredStopAtLevel=1" in options) == small


@pytest.mark.parametrize(
    ("size", "reports", "asks"),
    [
        (1, True, {"small": True, "tiny": True}),
        (2**23, True, {"small": True, "tiny": False}),
        (2**25, True, {"small": False, "tiny": False}),
        (1, False, {"small": False, "tiny": False}),
    ],
)
def test_only_reports_on_a_small_store_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, reports: bool, asks: dict[str, bool]
) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(size)
    asked: list[dict[str, bool]] = []

    class Started(Exception):
        """Far enough."""

    def start(*_: object, **how: bool) -> None:
        asked.append(how)
        raise Started

    monkeypatch.setattr(session, "spark_session", start)
    with pytest.raises(Started), report_options.open_store(str(tmp_path), None, reports=reports):
        pass
    assert asked == [asks]
