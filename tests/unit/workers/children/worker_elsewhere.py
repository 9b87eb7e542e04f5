"""The obedient worker, on a kernel that was started at another time."""

import time

ours = time.monotonic_ns
time.monotonic_ns = lambda: ours() - 10**15

import worker_obedient  # type: ignore[import-not-found]  # noqa: E402, F401
