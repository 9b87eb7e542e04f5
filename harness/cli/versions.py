"""`rocketchaos versions`: which releases of RocketMQ can be run here."""

from __future__ import annotations

import json
import sys

from rocketchaos.harness.cli.common_options import JsonOption
from rocketchaos.harness.cli.terminal import ERR, OUT, Progress
from rocketchaos.harness.core.errors import ExitCode
from rocketchaos.harness.core.model import SCHEMA_VERSION
from rocketchaos.harness.jars.releases import Release, releases


def list_versions(as_json: JsonOption = False) -> ExitCode:
    """List the releases of RocketMQ from 4.9.0 on: those in the cache, and those on Maven Central.

    Of each it says which of server, tools, client and proxy there are. Runs need the first three; Maven Central
    has some releases only in part. The exit code is 4 where the network fails: then those in the cache are listed.
    """
    with Progress() as progress:
        progress("asking which releases there are")
        found, unreached = releases(progress)
    if as_json:
        told = [
            {
                "version": one.version,
                "cached": one.cached,
                "runs": not one.lacks,
                "has": one.has,
                "lacks": one.lacks,
            }
            for one in found
        ]
        json.dump({"schema_version": SCHEMA_VERSION, "versions": told}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        for one in found:
            OUT.print(_line(one), markup=False)
    if unreached is None:
        return ExitCode.AS_EXPECTED
    ERR.print(f"rocketchaos: those in the cache alone: {unreached}", markup=False)
    return unreached.exit_code


def _line(one: Release) -> str:
    note = "in the cache" if one.cached else f"can't be run: no {', '.join(one.lacks)}" if one.lacks else ""
    return f"{one.version:<8}{' '.join(one.has):<28}{note}".rstrip()
