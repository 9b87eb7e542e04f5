"""Everything that was asked and answered, in one file; and the same diagnosis of such a file.

A bundle from others is input that nobody vouches for: its size and types are checked, nothing of it is a path, and
whatever is shown of it goes through the same outputs as a live cluster's names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

import rocketchaos
from rocketchaos.harness.core.errors import EnvironmentNotReady, UsageProblem
from rocketchaos.harness.core.whole_file import write_whole
from rocketchaos.harness.diagnose import requests
from rocketchaos.harness.diagnose.collect import Scope
from rocketchaos.harness.diagnose.exchange import Exchange, Keep
from rocketchaos.harness.diagnose.pseudonyms import Pseudonyms

KIND = "rocketchaos-diagnose"
LARGEST_BYTES = 256 * 2**20
MOST_LOOKS = 1000


FORMAT = 1
LATEST_MS = 2**53
"""Of a time that a bundle may have."""


class Head(msgspec.Struct, frozen=True):
    """What every format of the file has."""

    kind: str
    schema_version: int


class Bundle(msgspec.Struct, frozen=True):
    """The file, as JSON."""

    kind: str
    schema_version: int
    made_by: str
    redacted: bool
    scope: Scope
    looks: int
    exchanges: list[Exchange]


def write(path: Path, scope: Scope, looks: int, exchanges: Sequence[Exchange]) -> Path:
    """Write the bundle, with pseudonyms, and next to it the map of what they stand for; returns the map's path.

    Only the user can read the map, and it is not in the bundle.

    Raises:
        EnvironmentNotReady: it can't be written.
    """
    pseudonyms = Pseudonyms.of(scope, exchanges)
    bundle = Bundle(
        KIND,
        FORMAT,
        rocketchaos.__version__,
        True,
        pseudonyms.scope(scope),
        looks,
        [pseudonyms.exchange(exchange) for exchange in exchanges],
    )
    names = path.with_name(f"{path.name}.names.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(names, msgspec.json.format(msgspec.json.encode(pseudonyms.names)), mode=0o600)
        write_whole(path, msgspec.json.encode(bundle))
    except OSError as error:
        raise EnvironmentNotReady(
            f"the bundle can't be written: {error.strerror}: {path}", "Give another `--bundle`."
        ) from error
    return names


def read(path: Path) -> Bundle:
    """Read a bundle.

    Raises:
        UsageProblem: there is no such file, or it is no bundle.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise UsageProblem(
                f"{path} is larger than {LARGEST_BYTES >> 20} MiB: no bundle", "Give another one."
            )
        content = path.read_bytes()
        head = msgspec.json.decode(content, type=Head)
        if head.kind == KIND and head.schema_version > FORMAT:
            raise UsageProblem(
                f"{path} is a bundle of a later format than this rocketchaos reads",
                "Upgrade it: `pip install --upgrade rocketmq-chaos-harness`.",
            )
        bundle = msgspec.json.decode(content, type=Bundle)
    except OSError as error:
        raise UsageProblem(
            f"the bundle can't be read: {error.strerror}: {path}", "Correct the path."
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageProblem(
            f"{path} is no bundle: {error}", "`rocketchaos diagnose --namesrv … --bundle FILE` makes one."
        ) from error
    possible = 0 < bundle.looks <= MOST_LOOKS and all(
        0 <= item.look < MOST_LOOKS and 0 <= item.at_ms < LATEST_MS for item in bundle.exchanges
    )
    if bundle.kind != KIND or bundle.schema_version != FORMAT or not possible:
        raise UsageProblem(
            f"{path} is no bundle that this version reads", "`rocketchaos diagnose --bundle FILE` makes one."
        )
    # Bundles from before the scope had it.
    return msgspec.structs.replace(bundle, scope=replace(bundle.scope, pseudonyms=bundle.redacted))


SELDOM_ASKED = frozenset(
    {
        requests.GET_BROKER_CONFIG,
        requests.GET_BROKER_RUNTIME_INFO,
        requests.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        requests.GET_ALL_MESSAGE_REQUEST_MODE,
        requests.GET_ROUTEINFO_BY_TOPIC,
        requests.GET_TOPIC_CONFIG,
    }
)
"""Requests that not every look makes: an earlier answer holds."""


class Recorded:
    """Answers from a bundle, as if the cluster were asked again."""

    def __init__(self, exchanges: Sequence[Exchange], looks: int) -> None:
        self.looks = looks
        self._groups: dict[int, set[str]] = {}
        for exchange in exchanges:
            if exchange.code == requests.GET_CONSUMER_CONNECTION_LIST and "consumerGroup" in exchange.fields:
                self._groups.setdefault(exchange.look, set()).add(exchange.fields["consumerGroup"])
        # A question that was asked again has its last answer.
        self._answers = {
            _question(item.look, item.address, item.code, item.fields): item for item in exchanges
        }

    async def ask(
        self, look: int, address: str, code: int, fields: Mapping[str, str], keep: Keep | None = None
    ) -> Exchange:
        """What was answered; a question that isn't in the bundle was not answered."""
        del keep  # done when it was recorded
        # Bundles of 0.1 have settings and routes in the first look alone.
        earlier = range(look, -1, -1) if code in SELDOM_ASKED else (look,)
        answers = (self._answers.get(_question(number, address, code, fields)) for number in earlier)
        found = next(filter(None, answers), None)
        return found or Exchange(look, address, code, dict(fields), 0, error="it is not in the bundle")

    def groups_in(self, look: int) -> frozenset[str]:
        """The groups that were looked at in a look."""
        return frozenset(self._groups.get(look, ()))


_Question = tuple[int, str, int, frozenset[tuple[str, str]]]


def _question(look: int, address: str, code: int, fields: Mapping[str, str]) -> _Question:
    # Which broker forwarded it to the member is of no account, and has changed from version to version.
    relayed = code == requests.GET_CONSUMER_RUNNING_INFO
    return look, "" if relayed else address, code, frozenset(fields.items())
