"""A diagnosis of brokers that want an access key, speak TLS alone, or advertise an address that leads nowhere."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from rocketchaos.harness.cli.main import main
from rocketchaos.harness.diagnose.gate import Access, Gate
from rocketchaos.harness.diagnose.target import tls
from rocketchaos.harness.jars import artifacts
from rocketchaos.harness.jars.java_home import find_java
from tests import waiting

pytestmark = pytest.mark.embedded

NOWHERE = "10.255.255.254"
SECRET = "12345678"
ACL_1 = "accounts:\n- accessKey: rocketmq2\n  secretKey: 12345678\n  admin: true\n"
_AUTH = "org.apache.rocketmq.auth"
ACL_2 = f"""authenticationEnabled=true
authenticationProvider={_AUTH}.authentication.provider.DefaultAuthenticationProvider
authenticationMetadataProvider={_AUTH}.authentication.provider.LocalAuthenticationMetadataProvider
initAuthenticationUser={{"username":"rocketmq2","password":"12345678"}}
innerClientAuthenticationCredentials={{"accessKey":"rocketmq2","secretKey":"12345678"}}
authorizationEnabled=true
authorizationProvider={_AUTH}.authorization.provider.DefaultAuthorizationProvider
authorizationMetadataProvider={_AUTH}.authorization.provider.LocalAuthorizationMetadataProvider
"""
OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.nio", "sun.nio.ch", "jdk.internal.ref")
]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A name server and a broker that let only those in who have the key."""

    options: list[str]
    tls: bool


def _free() -> int:
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        return int(item.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as item:
        return item.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(
    params=[
        pytest.param(("4.9.4", False), id="acl-1", marks=pytest.mark.nightly),
        pytest.param(("5.5.0", True), id="acl-2-tls"),
    ]
)
def guarded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Guarded]:
    version, tls = request.param
    name_server, broker = _free(), _free()
    home = tmp_path / "home"
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "plain_acl.yml").write_text(ACL_1)
    for name in ("logback_broker.xml", "logback_namesrv.xml"):
        (home / "conf" / name).write_text("<configuration/>")
    (tmp_path / "namesrv.properties").write_text(f"listenPort={name_server}\n")
    (tmp_path / "broker.conf").write_text(
        f"brokerClusterName=c\nbrokerName=broker-a\nbrokerId=0\nbrokerIP1={NOWHERE}\nlistenPort={broker}\n"
        f"namesrvAddr=127.0.0.1:{name_server}\nstorePathRootDir={tmp_path}/store\n"
        f"mappedFileSizeCommitLog=1048576\n{ACL_2 if version[0] == '5' else 'aclEnable=true'}\n"
    )
    java = [
        *[str(find_java().executable), "-Xmx256m", f"-Drocketmq.home.dir={home}", f"-Duser.home={tmp_path}"],
        *OPENS,
        *(
            ["-Dtls.enable=true", "-Dtls.server.mode=enforcing", "-Dtls.client.authServer=false"]
            if tls
            else []
        ),
        *["-cp", ":".join(map(str, artifacts.classpath(version, "server", lambda _text: None)))],
    ]
    programs = (
        ["org.apache.rocketmq.namesrv.NamesrvStartup", "-c", str(tmp_path / "namesrv.properties")],
        ["org.apache.rocketmq.broker.BrokerStartup", "-c", str(tmp_path / "broker.conf")],
    )
    environment = {**os.environ, "ROCKETMQ_HOME": str(home)}
    options = [
        *["--namesrv", f"127.0.0.1:{name_server}", "--map", f"{NOWHERE}:{broker}=127.0.0.1:{broker}"],
        *(["--tls"] if tls else []),
    ]
    running = []
    try:
        with (tmp_path / "servers.log").open("wb") as log:
            for program in programs:
                running.append(subprocess.Popen([*java, *program], env=environment, stdout=log, stderr=log))
                # A broker that finds no name server when it starts registers 30 s later.
                waiting.until(lambda: _listens(name_server))
        yield Guarded(options, tls)
    finally:
        for item in running:
            item.kill()
            item.wait()


def _diagnosed(capsys: pytest.CaptureFixture[str], options: list[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["diagnose", *options, "-o", "json"])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


async def _closes_at_once(address: str) -> None:
    """RocketMQ doesn't answer a TLS connection's goodbye, for which asyncio would wait 30 s."""
    gate = Gate(Access(tls=tls(wanted=True, authority=None)))
    answer = await gate.ask(0, address, 106, {})
    assert answer.succeeded, answer.error
    async with asyncio.timeout(10):
        await gate.close()


@pytest.mark.extended
def test_only_with_the_key_everything_is_shown(
    guarded: Guarded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key.yml"
    key.write_text(f"accessKey: rocketmq2\nsecretKey: {SECRET}\n")
    with_key = [*guarded.options, "--access-key-file", str(key)]
    ready = Retrying(
        retry=retry_if_result(lambda found: found[0] == 4), stop=stop_after_delay(240), wait=wait_fixed(1)
    )
    try:
        code, text = ready(_diagnosed, capsys, with_key)
    except RetryError as error:
        log = (tmp_path / "servers.log").read_text(errors="replace")[-1000:]
        pytest.fail(f"{error.last_attempt.result()}\n{log}")
    assert code == 0, text
    assert SECRET not in text

    by_domain = [str(option) for option in with_key]
    address = by_domain.index("--namesrv") + 1
    by_domain[address] = by_domain[address].replace("127.0.0.1", "localhost")
    code, text = _diagnosed(capsys, by_domain)
    assert code == 0, text

    code, text = _diagnosed(capsys, guarded.options)
    assert code == 3, text
    undetermined = {item["code"] for item in json.loads(text)["undetermined"]}
    by_silence = {"RC0804", "RC0805", "RC0806"}
    assert undetermined == {"RC0803", "RC0811", "RC0813", "RC0814"} | by_silence, text

    key.write_text("accessKey: rocketmq2\nsecretKey: wrong-one\n")
    code, text = _diagnosed(capsys, with_key)
    assert code == 3, text
    assert "wrong-one" not in text

    without_map: list[Any] = [option for option in guarded.options if option != "--map" and "=" not in option]
    code, text = _diagnosed(capsys, without_map)
    assert code == 4
    assert "--map" in text
    if guarded.tls:
        asyncio.run(_closes_at_once(guarded.options[1]))
        code, text = _diagnosed(capsys, [option for option in guarded.options if option != "--tls"])
        assert code == 4
        assert "--tls" in text
