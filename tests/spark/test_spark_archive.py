"""The class-data archive of Spark's JVM: the first small session makes it, and the next one uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketchaos.harness.core import paths
from rocketchaos.harness.jars.class_archive import SWITCH
from tests.spark import stores

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

SESSION = """
import os
import sys
from pathlib import Path
from rocketchaos.spark_reports.spark_session import spark_session
# Tests run side by side, and nothing is made on a busy machine.
os.getloadavg = lambda: (0.0, 0.0, 0.0)
said = []
with spark_session("local[1]", said.append, small="small" in sys.argv) as spark:
    jvm = spark.sparkContext._jvm
    number = jvm.java.lang.ProcessHandle.current().pid()
    spark.sql("SELECT 1").collect()
    print("archive" if "archives/spark-" in Path(f"/proc/{number}/maps").read_text() else "no archive")
    if "fail" in sys.argv:
        raise SystemExit(9)
print("; ".join(said))
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with no archive, whose path has a blank."""
    folder = tmp_path / "a cache"
    folder.mkdir()
    (folder / "maven").symlink_to(paths.maven_folder())
    monkeypatch.setenv(paths.CACHE_VARIABLE, str(folder))
    monkeypatch.delenv(SWITCH, raising=False)
    return folder


def session(*words: str) -> tuple[str, int]:
    with stores.process(SESSION, *words) as started:
        out, errors = started.communicate(timeout=180)
        assert "Traceback" not in errors
        return out.strip(), started.returncode


def archives(cache: Path) -> list[Path]:
    return list((cache / "archives").glob("spark-*.jsa"))


def test_a_small_session_makes_it_and_the_next_one_of_any_size_uses_it(cache: Path) -> None:
    assert session("small", "fail")[1] == 9
    assert archives(cache) == []  # a session that fails ends at once
    assert session() == ("no archive\nstarting Spark", 0)  # one on much data makes none
    out, code = session("small")
    assert (out, code) == ("no archive\nstarting Spark; preparing fast starts of Spark, once", 0)
    (archive,) = archives(cache)
    assert session("small") == session() == ("archive\nstarting Spark", 0)
    assert archives(cache) == [archive]
    left = [file.name for file in (cache / "spark").rglob("*") if file.is_file()]
    assert left == ["spark.log"]  # of the one that failed
