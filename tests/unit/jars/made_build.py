"""Builds whose jars hold nothing but their version, for tests that start nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path

MODULES = ("broker", "client", "common", "namesrv", "remoting", "store", "tools")


def made_build(folder: Path, version: str = "5.5.1-SNAPSHOT", *more: str, content: str = "") -> Path:
    """An unpacked distribution; `more` are modules besides those that every one has."""
    for module in (*MODULES, *more):
        jar(folder, module, version, content)
    jar(folder, "proto", "2.1.2", "")
    with zipfile.ZipFile(folder / "lib" / "netty-all-4.1.65.Final.jar", "w") as made:
        made.writestr("io/netty/Some.class", "")
    return folder


def jar(folder: Path, module: str, version: str, content: str = "", text: str | None = None) -> Path:
    """One jar of RocketMQ's; `text` is the version that Maven wrote into it, none where that is empty."""
    file = folder / "lib" / f"rocketmq-{module}-{version}.jar"
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as made:
        # Fixed times, so that the same content is the same jar.
        made.writestr(zipfile.ZipInfo("content"), content)
        if text != "":
            entry = zipfile.ZipInfo(f"META-INF/maven/org.apache.rocketmq/rocketmq-{module}/pom.properties")
            made.writestr(entry, f"#Created by Maven\nversion={text or version}\n")
    return file
