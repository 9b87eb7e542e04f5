"""A client's namespace, which RocketMQ's client puts before the topics and groups that its program names. Pure.

`NamespaceUtil.wrapNamespace` and `ClientConfig.setNamespace`, 4.9.0 to 5.5.0. Scenarios call topics and groups by
their whole names, as brokers do.
"""

from collections.abc import Iterable, Iterator

SEPARATOR = "%"
"""NamespaceUtil.NAMESPACE_SEPARATOR."""


def inside(namespace: str | None, name: str) -> str:
    """The name as a program in the namespace has it: `orders` of `ns%orders`."""
    return name if namespace is None else name.removeprefix(f"{namespace}{SEPARATOR}")


def whole(namespace: str | None, name: str) -> str:
    """The way back; a whole name stays as it is."""
    return name if namespace is None else f"{namespace}{SEPARATOR}{inside(namespace, name)}"


def outside(namespace: str | None, names: Iterable[str], what: str) -> Iterator[str]:
    """For each topic or group that lacks the namespace of its client, a sentence with the name to write."""
    for name in names:
        if whole(namespace, name) != name:
            yield (
                f"its client's `namespace: {namespace}` makes another {what} of `{name}`: write the name that "
                f"brokers get, `{whole(namespace, name)}`"
            )
