"""Whom a diagnosis asks, and how: name servers, access key, TLS, addresses that differ here."""

import os
import re
import socket
import ssl
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.rocketmq.signature import Secrets

ACCESS_KEY_VARIABLE, SECRET_KEY_VARIABLE = "ROCKETCHAOS_ACCESS_KEY", "ROCKETCHAOS_SECRET_KEY"
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})")
_LISTED_AT_MOST = 64 * 1024
_WITHIN_S = 5.0


def address(text: str, option: str) -> str:
    """`host:port`, checked.

    Raises:
        UsageProblem: it is none.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or not 0 < int(found["port"]) < 65536:
        raise UsageProblem(
            f"{option}: {text[:80]!r} is no HOST:PORT", "Write host and port, as in `10.0.0.5:9876`."
        )
    return text.strip()


def name_servers(text: str) -> tuple[str, ...]:
    """All name servers: `HOST:PORT[;…]`, each address of a name that has several, or what a web address lists.

    Raises:
        UsageProblem: it is neither.
        EnvironmentNotReady: the name is unknown, or the list can't be read.
    """
    if text.startswith(("http://", "https://")):
        text = _listed_at(text)
    parts = [part for part in re.split(r"[;,\s]+", text) if part]
    if not parts:
        raise UsageProblem("--namesrv names no name server", "Give HOST:PORT, several with `;` between them.")
    found: list[str] = []
    for part in parts:
        host, _, port = address(part, "--namesrv").rpartition(":")
        try:
            known = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
        except OSError as error:
            raise EnvironmentNotReady(
                f"the name server's name is unknown: {host}", "Correct `--namesrv`."
            ) from error
        hosts = sorted({str(item[4][0]) for item in known if item[0] == socket.AF_INET}) or sorted(
            {f"[{item[4][0]}]" for item in known}
        )
        # One address may be written as it was given, as may `localhost`; of several each is a server.
        found += [part] if len(hosts) == 1 else [f"{item}:{port}" for item in hosts]
    return tuple(dict.fromkeys(found))


def _listed_at(url: str) -> str:
    """What an address server lists, as `TopAddressing.fetchNSAddr` reads it."""
    try:
        with urllib.request.urlopen(url, timeout=_WITHIN_S) as answer:
            return str(answer.read(_LISTED_AT_MOST).decode().strip())
    except (OSError, ValueError) as error:
        raise EnvironmentNotReady(
            f"the list of name servers can't be read: {url}: {error}", "Correct `--namesrv`."
        ) from error


def secrets(file: Path | None) -> Secrets | None:
    """The access key of a file as mqadmin's `tools.yml`, otherwise of the environment; None: there is none.

    Raises:
        UsageProblem: the file can't be read, or lacks one of them.
    """
    if file is None:
        keys = os.environ.get(ACCESS_KEY_VARIABLE), os.environ.get(SECRET_KEY_VARIABLE)
        return Secrets(keys[0], keys[1]) if keys[0] and keys[1] else None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageProblem(
            f"the file of the access key can't be read: {file}", "Correct `--access-key-file`."
        ) from error
    pairs = re.findall(r"^\s*(accessKey|secretKey)\s*[:=]\s*(\S+)\s*$", text, re.MULTILINE)
    found = {key: value.strip("\"'") for key, value in pairs}
    if set(found) != {"accessKey", "secretKey"}:
        raise UsageProblem(
            f"{file} lacks accessKey or secretKey", "It has two lines: `accessKey: …` and `secretKey: …`."
        )
    return Secrets(found["accessKey"], found["secretKey"])


def tls(wanted: bool, authority: Path | None) -> ssl.SSLContext | None:
    """How TLS is spoken. Without an authority any certificate will do, as with RocketMQ's own clients.

    Raises:
        UsageProblem: the authority's file can't be read.
    """
    if not wanted and authority is None:
        return None
    context = ssl.create_default_context()
    context.check_hostname = False  # brokers are known by their addresses
    if authority is None:
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        context.load_verify_locations(cafile=str(authority))
    except (OSError, ssl.SSLError) as error:
        raise UsageProblem(f"no certificate can be read: {authority}", "Correct `--tls-ca`.") from error
    return context


def mapped(entries: Iterable[str]) -> dict[str, str]:
    """`10.0.0.5:10911=127.0.0.1:20911`, several.

    Raises:
        UsageProblem: one is no such pair.
    """
    found = {}
    for entry in entries:
        there, equals, here = entry.partition("=")
        if not equals:
            raise UsageProblem(
                f"--map: {entry[:80]!r} is no pair", "Give it as `10.0.0.5:10911=127.0.0.1:20911`."
            )
        found[address(there, "--map")] = address(here, "--map")
    return found
