"""The access keys of clusters with access control: they belong to this process, and end with it."""

from __future__ import annotations

import secrets

HARNESS = "rocketchaos"
"""The access key of the harness's own admin client, an administrator."""

SECRET = secrets.token_hex(16)
"""The secret key of every account, new for each process of the harness."""

MIGRATES = ">=5.3"
"""The versions with ACL 2, which take over a plain_acl.yml (AuthMigrator, 5.3.3 and 5.5.0); others have ACL 1."""

SIGNED = ">=4.9.4"
"""The versions whose brokers take the signature of raw requests, which the harness sends: 4.9.2 and 4.9.3 answer
"Check signature failed". There AclClientRPCHook signs the typed header's fields alone.
"""
