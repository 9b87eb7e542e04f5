"""One answer for many who ask the same at the same time."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")


class SharedAnswer(Generic[_Answer]):
    """Asks one request at a time. Callers that ask while one is under way share the next one.

    No caller gets an answer to a request that was sent before it asked. So a slow answer
    is requested at most once at a time, however many callers look.
    """

    def __init__(self, ask: Callable[[], _Answer]) -> None:
        self._ask = ask
        self._changed = threading.Condition()
        self._begun = self._done = 0
        self._answer: _Answer | None = None
        self._error: Exception | None = None

    def get(self) -> _Answer:
        """The answer; an exception goes to all callers that wait for it."""
        with self._changed:
            wanted = self._begun + 1
            while self._done < wanted:
                if self._begun > self._done:
                    self._changed.wait()
                    continue
                self._begun += 1
                self._changed.release()
                answer, error = None, None
                try:
                    answer = self._ask()
                except Exception as failure:
                    error = failure
                finally:
                    self._changed.acquire()
                    self._answer, self._error, self._done = answer, error, self._begun
                    self._changed.notify_all()
            if self._error is not None:
                raise self._error
            return self._answer  # type: ignore[return-value]
