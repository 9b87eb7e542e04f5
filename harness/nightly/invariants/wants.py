"""Whether a filter is known to let a message through, of tags or of SQL. Pure."""

from rocketchaos.assertions.view import Sent
from rocketchaos.harness.core.events.observed import StoredSubscription
from rocketchaos.harness.language.expressions import Expression, SqlExpression
from rocketchaos.harness.language.sql import sql_matches
from rocketchaos.harness.language.tags import client_matches, stored_matches


def wants(expression: Expression | None, message: Sent) -> bool:
    """Whether a consumer with these subscriptions wants the message; None: it doesn't subscribe to the topic.

    Also False if only a broker can decide it, as for most SQL (`harness.language.sql`).
    """
    if expression is None:
        return False
    if isinstance(expression, SqlExpression):
        return _sql_wants(expression.sql, message)
    return client_matches(expression, message.tag)


def lets_through(stored: StoredSubscription, message: Sent) -> bool:
    """Whether a broker sends the message by the subscription that it holds; False too if only the broker knows."""
    matches = stored_matches(stored, message.tag)
    return _sql_wants(stored.expression, message) if matches is None else matches


def _sql_wants(sql: str, message: Sent) -> bool:
    return sql_matches(sql, message.event.body.properties) is True
