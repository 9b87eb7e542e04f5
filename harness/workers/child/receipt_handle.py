"""The data of a message in a receipt handle of the proxy."""

_BROKER, _QUEUE, _OFFSET = 5, 6, 7
"""The places of its parts, `ReceiptHandle.encode` (5.3.3, 5.5.0): `0 1795287432367 15000 0 0 broker-a 2 0 293`."""


def place_of(receipt_handle: str | None) -> tuple[str | None, int | None, int | None]:
    """Broker, queue and offset from which a message was popped; None where the handle doesn't tell."""
    parts = (receipt_handle or "").split(" ")
    try:
        return parts[_BROKER], int(parts[_QUEUE]), int(parts[_OFFSET])
    except (IndexError, ValueError):
        return None, None, None
