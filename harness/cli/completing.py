"""Completion by Tab of more than commands and options. If nothing matches, the shell completes file names."""

from rocketchaos.harness.plan.library import shipped


def scenario_names(incomplete: str) -> list[str]:
    """The scenarios that come with rocketchaos."""
    return [name for name in shipped() if name.startswith(incomplete)]


def words(incomplete: str) -> list[str]:
    """The words that `explain` knows, without keys of words."""
    from rocketchaos.harness.reference.explain import entries

    names = dict.fromkeys(entry.name for entry in entries() if "." not in entry.name)
    return [name for name in names if name.startswith(incomplete)]


def claim_names(incomplete: str) -> list[str]:
    """The claims, `B01`."""
    from rocketchaos.harness.claims.registry import claims

    return [name for name in claims() if name.startswith(incomplete)]
