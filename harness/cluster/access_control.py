"""What brokers with access control and their proxy get: ACL 1, and ACL 2 from 5.3 on, from one plain_acl.yml.

ACL 2 takes the accounts of that file over when the broker starts (`AuthMigrator`, 5.3.3 and 5.5.0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rocketchaos.harness.language.account import Account
from rocketchaos.harness.rocketmq.access_key import HARNESS, MIGRATES, SECRET
from rocketchaos.harness.rocketmq.version_range import contains

_AUTH = "org.apache.rocketmq.auth"
_ACL_2: Mapping[str, str] = MappingProxyType(
    {
        "authenticationEnabled": "true",
        "authenticationProvider": f"{_AUTH}.authentication.provider.DefaultAuthenticationProvider",
        "authenticationMetadataProvider": f"{_AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
        "initAuthenticationUser": json.dumps({"username": HARNESS, "password": SECRET}),
        "innerClientAuthenticationCredentials": json.dumps({"accessKey": HARNESS, "secretKey": SECRET}),
        "authorizationEnabled": "true",
        "authorizationProvider": f"{_AUTH}.authorization.provider.DefaultAuthorizationProvider",
        "authorizationMetadataProvider": f"{_AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
        "migrateAuthFromV1Enabled": "true",
    }
)
_OF_PROXIES: Mapping[str, str] = MappingProxyType(
    {
        # Otherwise its own requests to brokers have no signature (DefaultMessagingProcessor, 5.5.0).
        "enableAclRpcHookForClusterMode": "true",
        "authenticationMetadataProvider": "org.apache.rocketmq.proxy.auth.ProxyAuthenticationMetadataProvider",
        "authorizationMetadataProvider": "org.apache.rocketmq.proxy.auth.ProxyAuthorizationMetadataProvider",
    }
)
_OF_BROKERS = ("initAuthenticationUser", "migrateAuthFromV1Enabled")
_OTHER_SECRET = SECRET[::-1]
"""Of accounts whose clients have a wrong one."""
KEY_FILE = "access-key.yml"
"""In a broker's folder: the harness's own key, for `diagnose --access-key-file`."""


def broker_lines(version: str) -> Mapping[str, str]:
    """The lines of broker.conf that switch it on."""
    return _ACL_2 if contains(MIGRATES, version) else {"aclEnable": "true"}


def proxy_lines() -> Mapping[str, str]:
    """The lines of rmq-proxy.json by which it checks its clients as the brokers do, whom it asks for the accounts.

    ACL 2 (ProxyAuthenticationMetadataProvider, 5.3.3 and 5.5.0).
    """
    return {**{name: line for name, line in _ACL_2.items() if name not in _OF_BROKERS}, **_OF_PROXIES}


def write_accounts(folder: Path, accounts: Mapping[str, Account]) -> None:
    """Write conf/plain_acl.yml, and the harness's own key, into a broker's folder, with mode 600."""
    own = {"accessKey": HARNESS, "secretKey": SECRET}
    listed: list[dict[str, object]] = [{**own, "admin": True}]
    for key, account in accounts.items():
        if account.at_brokers == "unknown":
            continue
        secret = SECRET if account.at_brokers == "known" else _OTHER_SECRET
        granted = account.model_dump(mode="json", by_alias=True, exclude={"at_brokers"}, exclude_none=True)
        listed.append({"accessKey": key, "secretKey": secret, **granted})
    # JSON is YAML too.
    accounts_text = json.dumps({"accounts": listed}, indent=1)
    key_text = "".join(f"{name}: {value}\n" for name, value in own.items())
    for file, text in ((folder / "conf" / "plain_acl.yml", accounts_text), (folder / KEY_FILE, key_text)):
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
