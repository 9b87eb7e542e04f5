"""Java clients that stand for members of which a scenario can't have the like."""

from collections.abc import Collection

from pydantic import ValidationError

from rocketchaos.harness.diagnose.reproduction.document import Document
from rocketchaos.harness.language.consumer_spec import Consumer

_UNUSUAL = frozenset({"client", "api", "post_subscription_when_pull"})
"""The keys of a consumer without which it is Java's usual one."""


def able(scenario: Document, control: Document) -> tuple[Document, Document]:
    """Both, with Java push consumers for those that lack a setting; the description names them."""
    swapped = {name: _title(item) for name, item in scenario["consumers"].items() if _lacks(item)}
    if not swapped:
        return scenario, control
    who = " and ".join(f"{name} ({title})" for name, title in swapped.items())
    sentence = f" A Java push consumer stands for {who}: that client lacks a setting of this scenario."
    return _with_java(scenario, swapped, sentence), _with_java(control, swapped, sentence)


def _title(item: Document) -> str:
    return str(item.get("api", item.get("client")))


def _lacks(item: Document) -> bool:
    shares = item.get("api") == "pop" or item.get("client") == "grpc"  # which is what the scenario is about
    return not shares and not _valid(item) and _valid(_usual(item))


def _valid(item: Document) -> bool:
    try:
        Consumer.model_validate(item)
    except ValidationError:
        return False
    return True


def _usual(item: Document) -> Document:
    return {key: value for key, value in item.items() if key not in _UNUSUAL}


def _with_java(document: Document, names: Collection[str], sentence: str) -> Document:
    consumers = {
        name: _usual(item) if name in names else item for name, item in document["consumers"].items()
    }
    return {**document, "description": document["description"] + sentence, "consumers": consumers}
