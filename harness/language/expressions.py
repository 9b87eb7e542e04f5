"""What consumers subscribe with: tags, or SQL."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Discriminator, Field, Tag

from rocketchaos.harness.language.words import Strict, TagExpression


class SqlExpression(Strict):
    """A subscription by SQL92 on the messages' properties: `MessageSelector.bySql`.

    Brokers evaluate it; clients don't check again. A broker refuses it unless its `enablePropertyFilter` is
    true.
    """

    sql: str = Field(min_length=1, description="the expression: `a = 1 AND b IN ('x', 'y')`")


Expression = str | SqlExpression
"""What a consumer subscribes with: a tag expression, or SQL."""

ExpressionField = Annotated[
    Annotated[TagExpression, Tag("tags")] | Annotated[SqlExpression, Tag("sql")],
    Discriminator(lambda value: "sql" if isinstance(value, Mapping | SqlExpression) else "tags"),
]
"""The same as a field's type."""


def text_of(expression: Expression) -> str:
    """The expression as brokers hold it (SubscriptionData.subString): an empty one as `*`."""
    return expression.sql if isinstance(expression, SqlExpression) else expression or "*"


def as_data(expression: Expression) -> str | dict[str, str]:
    """The expression as workers and the history take it: text, or `{"sql": text}`."""
    return {"sql": expression.sql} if isinstance(expression, SqlExpression) else expression


def from_data(data: str | Mapping[str, str]) -> Expression:
    """The way back."""
    return data if isinstance(data, str) else SqlExpression(sql=data["sql"])


def in_words(subscribe: Mapping[str, str | Mapping[str, str]]) -> str:
    """Expressions of the history by topic, as a person reads them: `orders 'tagA', returns by SQL 'a = 1'`."""
    texts = {
        topic: repr(data) if isinstance(data, str) else f"by SQL {data['sql']!r}"
        for topic, data in subscribe.items()
    }
    return ", ".join(f"{topic} {text}" for topic, text in texts.items()) or "nothing"
