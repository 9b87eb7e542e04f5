"""The signature of a request, with which ACL 1 and ACL 2 know who asks."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secrets:
    """The access key of ACL 1 and 2, which sign in the same way (AclClientRPCHook, AclUtils; 4.9.4, 5.5.0)."""

    access_key: str
    secret_key: str = field(repr=False)

    def signed(self, fields: Mapping[str, str], body: bytes = b"") -> dict[str, str]:
        """The fields with access key and signature: HMAC-SHA1 of the values by sorted keys, then of the body."""
        all_fields = {**fields, "AccessKey": self.access_key}
        content = "".join(all_fields[key] for key in sorted(all_fields)).encode() + body
        digest = hmac.new(self.secret_key.encode(), content, hashlib.sha1).digest()
        return {**all_fields, "Signature": base64.b64encode(digest).decode()}
