"""An account of a cluster with access control, in the words of RocketMQ's plain_acl.yml."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from rocketchaos.harness.core.nearest import clipped
from rocketchaos.harness.language.words import Strict, as_tuple

_ACCESS_KEY = r"^[A-Za-z][A-Za-z0-9_-]{6,59}$"


def _an_access_key(text: str) -> str:
    if not re.fullmatch(_ACCESS_KEY, text):
        raise ValueError(
            f"an account can't have the name `{clipped(text)}`: it needs 7 to 60 letters, digits, `_` or `-`, and "
            "begins with a letter"
        )
    return text


AccessKey = Annotated[
    str, AfterValidator(_an_access_key), WithJsonSchema({"type": "string", "pattern": _ACCESS_KEY})
]
"""ACL 1 refuses keys of fewer than 7 characters (PlainPermissionManager, 4.9.4)."""
ACCOUNT = (
    "the account of `cluster: {accounts: …}` with which it signs its requests; default: it signs nothing, and "
    "brokers with accounts, or their proxy, refuse it"
)
"""The `account` of a client."""
Permission = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,60}$")]
"""ACL 1 reads every word but `PUB`, `SUB`, `PUB|SUB` as `DENY` (Permission.parsePermFromString, 4.9.4)."""
Granted = Annotated[
    tuple[Annotated[str, StringConstraints(pattern=r"^[\x21-\x3c\x3e-\x7e]+=[\x21-\x7e]+$")], ...],
    BeforeValidator(as_tuple),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""`NAME=PERMISSION`, one or a list."""


class Account(Strict):
    """An account: what those who sign with its access key may do."""

    admin: bool = Field(default=False, description="it may do everything")
    default_topic_perm: Permission = Field(
        default="DENY",
        alias="defaultTopicPerm",
        description="for topics that `topicPerms` leaves out: `DENY`, `PUB`, `SUB`, `PUB|SUB`",
    )
    default_group_perm: Permission = Field(
        default="DENY",
        alias="defaultGroupPerm",
        description="for groups that `groupPerms` leaves out; `SUB` lets a group consume",
    )
    topic_perms: Granted = Field(
        default=(), alias="topicPerms", description="by topic: `[orders=SUB, audit=PUB|SUB]`"
    )
    group_perms: Granted = Field(
        default=(), alias="groupPerms", description="by group, with its retry topic: `[g=SUB]`"
    )
    white_remote_address: str | None = Field(
        default=None,
        alias="whiteRemoteAddress",
        min_length=1,
        max_length=200,
        description="who names this account from this address, `127.0.0.1` or `192.168.1.*`, may do everything, "
        "whatever its signature; ACL 1 alone, ACL 2 doesn't take it over from plain_acl.yml",
    )
    at_brokers: Literal["known", "other-secret", "unknown"] = Field(
        default="known",
        description="what the brokers have of it: `known`; `other-secret`, as if a client were given a wrong one; "
        "`unknown`: they have no such account",
    )

    @property
    def accepted(self) -> bool:
        """Whether brokers take its signature for right, or don't look at it."""
        return self.at_brokers == "known" or (
            self.at_brokers == "other-secret" and self.white_remote_address is not None
        )
