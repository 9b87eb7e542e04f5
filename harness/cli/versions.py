"""`rocketchaos versions`: which releases of RocketMQ can be run here."""

from rocketchaos.harness.cli.common_options import JsonOption
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.jars.releases import Release, releases


def list_versions(as_json: JsonOption = False) -> ExitCode:
    """List the releases of RocketMQ from 4.9.0 on: those in the cache, and those on Maven Central.

    For each it shows which of server, tools, client and proxy exist. Runs need the first three; Maven Central
    has some releases only in part. The exit code is 4 if the network fails: then those in the cache are listed.
    """
    with Progress() as progress:
        progress("asking which releases there are")
        found, unreached = releases(progress)
    if as_json:
        entries = [
            {
                "version": entry.version,
                "cached": entry.cached,
                "runs": not entry.lacks,
                "has": entry.has,
                "lacks": entry.lacks,
            }
            for entry in found
        ]
        OUT.print_json({"schema_version": SCHEMA_VERSION, "versions": entries})
    else:
        for item in found:
            OUT.print(_line(item))
    if unreached is None:
        return ExitCode.AS_EXPECTED
    ERR.print(f"rocketchaos: only those in the cache: {unreached}")
    return unreached.exit_code


def _line(release: Release) -> str:
    note = (
        "in the cache"
        if release.cached
        else f"can't be run: no {', '.join(release.lacks)}"
        if release.lacks
        else ""
    )
    return f"{release.version:<8}{' '.join(release.has):<28}{note}".rstrip()
