"""The jars of RocketMQ's releases, as Maven resolves them, so that the first run of a version asks no POMs.

Two hundred POMs, one after the other, take longer than all the jars. Of other releases the POMs are asked.
`python -m rocketchaos.harness.jars.released_jars` updates the list: all releases that can be run.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("released_jars.json")
"""`jars`: artifacts, `group:artifact:version`, some with a classifier. `bundles`: by name, `4.9.4-server`,
where its jars are in that list, in the order of the class path."""


def released_jars(bundle: str) -> list[str] | None:
    """The artifacts of a bundle of a release, with all that they need at run time; None: it isn't listed."""
    places = _listed()["bundles"].get(bundle)
    return None if places is None else [_listed()["jars"][place] for place in places]


@cache
def _listed() -> Mapping[str, Any]:
    listed: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return listed


def text(bundles: Mapping[str, Sequence[str]]) -> str:
    """The file's content, a line for each jar and each bundle."""
    jars = sorted({jar for own in bundles.values() for jar in own})
    places = {jar: place for place, jar in enumerate(jars)}
    lines = (f"  {json.dumps(jar)}" for jar in jars)
    own = (f"  {json.dumps(name)}: {json.dumps([places[jar] for jar in of])}" for name, of in bundles.items())
    return '{"jars": [\n' + ",\n".join(lines) + '\n],\n"bundles": {\n' + ",\n".join(own) + "\n}}\n"


def main() -> None:
    """Write the list of all releases that can be run now to the standard output."""
    from rocketchaos.harness.core import paths
    from rocketchaos.harness.jars import artifacts, releases
    from rocketchaos.harness.jars.maven import Repository

    repository = Repository(paths.maven_folder(), lambda text: print(text, file=sys.stderr))
    found, _ = releases.releases()
    bundles = {}
    for release in (item for item in found if not item.lacks):
        roles: list[artifacts.Role] = [*artifacts.ARTIFACTS]
        if release.proxy:
            roles.append("all-servers")
        for role in roles:
            print(f"resolving {release.version} {role}", file=sys.stderr)
            bundle = artifacts.resolved_bundle(release.version, role)
            bundles[bundle.name] = repository.resolved(bundle)
    sys.stdout.write(text(bundles))


if __name__ == "__main__":
    main()
