"""The registry of claims, `scenarios/claims.yaml`: what is claimed, by whom, and what really happens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.core.nearest import nearest
from rocketchaos.harness.language.expectation import is_range
from rocketchaos.harness.language.words import Strict, as_tuple
from rocketchaos.harness.plan.library import scenarios_folder
from rocketchaos.harness.rocketmq.version_range import VersionRange, contains

FILE = "claims.yaml"
VERSIONS = ("4.9.3", "4.9.4", "4.9.7", "5.3.3", "5.5.0")
"""The versions on which every claim needs a verdict."""
PREDICTED_OF = ("4.9.3", "4.9.4", "5.3.3")
"""Those whose sources were read before anything was measured; of the others nothing was predicted."""

Predicted = Literal["confirmed", "refuted", "distribution", "unmeasured"]
Article = Literal["experiment", "mismatches", "pull-flow", "consistency", "filtering"]
Text = Annotated[str, BeforeValidator(lambda text: " ".join(text.split()) if isinstance(text, str) else text)]
ClaimId = Annotated[str, Field(pattern=r"^[A-Z]\d{2}$")]

ARTICLES: Mapping[Article, str] = {
    "experiment": "the experiment with two tags",
    "mismatches": "two kinds of mismatch",
    "pull-flow": "the flow of a pull",
    "consistency": "why subscriptions must agree",
    "filtering": "filtering of messages",
}
"""The subjects of the articles from which the claims come."""


class Claim(Strict):
    """One claim."""

    claim: Annotated[Text, Field(min_length=1)]
    """What is claimed, in one sentence."""
    said_by: Annotated[tuple[Article, ...], BeforeValidator(as_tuple)] = ()
    """The articles that say it; empty: nobody does, it was read from the sources."""
    said: Text = ""
    """The material's other statements about it."""
    predicted: Predicted | Annotated[dict[str, Predicted], Field(min_length=1)] = "confirmed"
    """The verdict that was read from the sources; or by ranges of versions."""
    really: Text = ""
    """What really happens; empty until it is measured."""
    about: VersionRange = ""
    """The versions that it is about; empty: all. Its scenarios may run on fewer."""
    unobservable: Text = ""
    """Why nothing public can observe it."""

    @model_validator(mode="after")
    def _ranges(self) -> Claim:
        for key in self.predicted if isinstance(self.predicted, Mapping) else ():
            if not is_range(key):
                raise ValueError(f"`{key}` is no range of versions")
        return self

    def predicted_for(self, version: str) -> Predicted | None:
        """What was predicted for a version; None: nothing."""
        if version not in PREDICTED_OF:
            return None
        if isinstance(self.predicted, str):
            return self.predicted
        return next((word for key, word in self.predicted.items() if contains(key, version)), None)


_REGISTRY: TypeAdapter[dict[str, Claim]] = TypeAdapter(dict[ClaimId, Claim])


@cache
def claims() -> Mapping[str, Claim]:
    """Every claim by its id, `B01`, in order.

    Raises:
        UsageProblem: the registry is broken.
    """
    return read_registry(scenarios_folder() / FILE)


def read_registry(path: Path) -> Mapping[str, Claim]:
    """The claims of a file.

    Raises:
        UsageProblem: it is missing or broken; with everything that is wrong with it.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return dict(sorted(_REGISTRY.validate_python(content).items()))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageProblem(f"{path} can't be read: {error}") from error
    except ValidationError as error:
        problems = [_in_words(item["loc"], item["msg"]) for item in error.errors()]
        raise UsageProblem(
            f"{path} is broken: {'; '.join(problems)}", "Its head says what an entry is made of."
        ) from error


def _in_words(loc: tuple[int | str, ...], message: str) -> str:
    place = ".".join(str(part) for part in loc if part != "[key]")
    return f"{place or 'the file'}: {message.removeprefix('Value error, ')}"


def chosen(words: str) -> tuple[str, ...]:
    """The ids that a text of ids and letters of groups means: `A,B07`.

    Raises:
        UsageProblem: there is no such claim.
    """
    found: dict[str, None] = {}
    for word in filter(None, (part.strip() for part in words.split(","))):
        own = [
            name for name in claims() if name == word.upper() or (len(word) == 1 and name[0] == word.upper())
        ]
        if not own:
            near = nearest(word.upper(), claims())
            raise UsageProblem(
                f"there is no claim `{word}`" + (f"; did you mean `{near}`?" if near else ""),
                "`rocketchaos explain` lists the claims. `B07` is the id of one, `B` the letter of a group.",
            )
        found.update(dict.fromkeys(own))
    return tuple(sorted(found or claims()))
