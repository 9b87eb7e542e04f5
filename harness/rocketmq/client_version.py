"""A client's version, as a number in its requests."""

_FIRST, _LAST = 212, 611
"""Ordinals of V4_0_0_SNAPSHOT and V5_9_9 in `MQVersion.Version`; the same from 4.9.0 to 5.5.0."""


def version_name(number: int) -> str | None:
    """`4.9.4`, of a Java client's number; None: it is no version from 4.0.0 on.

    Between those each version has two ordinals, of its snapshot and of its release (`MQVersion.Version`). Other
    languages send numbers of their own.
    """
    if not _FIRST <= number <= _LAST:
        return None
    version, is_release = divmod(number - _FIRST, 2)
    major, rest = divmod(version, 100)
    name = ".".join(map(str, (4 + major, *divmod(rest, 10))))
    return name if is_release else f"{name}-SNAPSHOT"
