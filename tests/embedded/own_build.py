"""Builds of one's own for tests: the jars of a release, laid out as a distribution has them, perhaps changed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from rocketchaos.harness.jars.artifacts import classpath
from rocketchaos.harness.jars.java_compiler import compile_java, compiler_jars
from rocketchaos.harness.jars.java_home import find_java

EVERYBODY_GETS_ALL = """
package org.apache.rocketmq.client.consumer.rebalance;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

public class AllocateMessageQueueAveragely implements AllocateMessageQueueStrategy {
    @Override
    public List<MessageQueue> allocate(String group, String me, List<MessageQueue> all, List<String> members) {
        return new ArrayList<>(all);
    }

    @Override
    public String getName() {
        return "AVG";
    }
}
"""
"""A client whose default strategy shares nothing out: each member takes every queue."""


def unpacked(folder: Path, version: str, java_source: str | None = None) -> Path:
    """The distribution of a version; its client has the class of this Java source instead of its own."""
    lib = folder / "lib"
    lib.mkdir(parents=True)
    for jar in classpath(version, "all-servers"):
        (lib / jar.name).symlink_to(jar)
    if java_source is not None:
        _replace(lib / f"rocketmq-client-{version}.jar", java_source)
    return folder


def _replace(jar: Path, java_source: str) -> None:
    name = java_source.partition("public class ")[2].split()[0]
    source, made = jar.parent.parent / f"{name}.java", jar.parent.parent / "classes"
    source.write_text(java_source, encoding="utf-8")
    compile_java([source], find_java(), compiler_jars(print), [*jar.parent.glob("*.jar")], made)
    original = jar.resolve()
    jar.unlink()
    with zipfile.ZipFile(original) as old, zipfile.ZipFile(jar, "w") as new:
        for entry in old.infolist():
            own = made / entry.filename
            new.writestr(entry, own.read_bytes() if own.is_file() else old.read(entry))
