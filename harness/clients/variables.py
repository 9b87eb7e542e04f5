"""The variables of a run: whom `$holder` stands for."""

from collections.abc import Iterable, Mapping

from rocketchaos.harness.clients.consumer import Consumer
from rocketchaos.harness.core.errors import HarnessDefect, PreconditionNotMet
from rocketchaos.harness.core.events.run import Bound
from rocketchaos.harness.core.history import History
from rocketchaos.harness.language.expressions import Expression
from rocketchaos.harness.language.tags import first_tag
from rocketchaos.harness.language.words import of_a_variable


class Variables:
    """Consumers by variable, as `bind` has chosen them."""

    def __init__(self, history: History, consumers: Mapping[str, Consumer]) -> None:
        self._history = history
        self._consumers = consumers
        self._bound: dict[str, tuple[str, ...]] = {}
        self._subscriptions: dict[str, Mapping[str, Expression]] = {}
        """Of the first consumer of each variable, when it was bound."""

    def bind(self, variable: str, consumers: tuple[str, ...]) -> None:
        """Let `$variable` stand for these consumers."""
        self._bound[variable] = consumers
        self._subscriptions[variable] = dict(self._consumers[consumers[0]].subscriptions) if consumers else {}
        self._history.append("harness", Bound(variable=variable, consumers=consumers))

    def resolve(self, names: Iterable[str]) -> tuple[str, ...]:
        """The consumers that names and variables stand for, in order."""
        found: list[str] = []
        for name in names:
            found += self._bound.get(name[1:], ()) if name.startswith("$") else (name,)
        return tuple(found)

    def tag(self, tag: str | None, topic: str) -> str | None:
        """A literal tag, or the first tag to which a consumer subscribed when it was bound (`$holder.tag`).

        Raises:
            HarnessDefect: the variable is not bound (validation should have found it).
            PreconditionNotMet: the consumer subscribes to everything, by SQL, or not to the topic: to no tag.
        """
        if tag is None or not of_a_variable(tag):
            return tag
        variable = tag[1:].removesuffix(".tag")
        consumers = self._bound.get(variable, ())
        if not consumers:
            raise HarnessDefect(f"{tag} stands for no consumer")
        expression = self._subscriptions[variable].get(topic)
        first = first_tag(expression) if isinstance(expression, str) else None
        if first is None:
            how = (
                "doesn't subscribe"
                if expression is None
                else f"subscribes to {expression!r}"
                if isinstance(expression, str)
                else "subscribes by SQL"
            )
            raise PreconditionNotMet(f"{tag}: {consumers[0]} {how} to {topic}, and so to no tag")
        return first
