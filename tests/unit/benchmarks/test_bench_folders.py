"""The run folders of the bench are as the judge leaves real ones: fit, with facts, and with what witnesses say."""

from __future__ import annotations

import json
from pathlib import Path

from rocketchaos.harness.core.model import MessageClass, MessageFate
from rocketchaos.harness.core.run_folder import message_document
from rocketchaos.harness.facts.folder_facts import FACTS, MESSAGES, lines_of_facts, read_folder
from tests.benchmarks.spark.folders import copy_as_others, write_folders

FATE = MessageFate("g", "t", "k", None, None, None, None, None, MessageClass.LOST, (), "", ())


def test_folders_of_the_bench_have_what_the_judge_writes(tmp_path: Path) -> None:
    runs, others = tmp_path / "runs", tmp_path / "others"
    assert write_folders(runs, 400, 20, processes=1) >= 400
    copy_as_others(runs, others, 1000, processes=1)
    folders = [file.parent for file in tmp_path.glob("*/*/*/run.json")]
    assert len(folders) == 2 * len(list(runs.glob("*/*")))
    text = set()
    for folder in folders:
        read = read_folder(folder)
        assert read.seen.fit, folder
        assert (folder / FACTS).read_bytes() == lines_of_facts(read, read.files)
        for line in (folder / MESSAGES).read_text().splitlines():
            document = json.loads(line)
            assert list(document) == ["schema_version", *message_document(FATE)]
            assert json.dumps(document, ensure_ascii=False) == line
            text |= {name for name, value in document.items() if value is not None}
    assert text >= {"delivery_ms", "broker_track", "dashboard_track"}
