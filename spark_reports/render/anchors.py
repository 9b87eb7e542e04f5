"""Anchors of rows: the same in every report over whatever store, so that links to them last."""

import hashlib
import json
from collections.abc import Sequence


def anchor(kind: str, key: Sequence[object]) -> str:
    """`cell-5d41402abc`: a hash of the row's key only.

    Args:
        kind: the kind of row: `cell`, `cause`, `pair`.
        key: the values that identify it among rows of its kind.
    """
    text = json.dumps([None if value is None else str(value) for value in key], ensure_ascii=True)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
