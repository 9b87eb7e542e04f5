"""Looks at the same thing, one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from rocketchaos.harness.engine.context import RunContext

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Probe = Callable[Concatenate["RunContext", _P], _T]


def one_at_a_time(probe: _Probe[_P, _T]) -> _Probe[_P, _T]:
    """The probe, of which a run has one look under way at most.

    The watch and the steps look at the same things. Were they to look at the same time, the older answer could be
    written down last, and the history would show what nobody held any more: offsets that ran backwards.
    """

    @functools.wraps(probe)
    def look(context: RunContext, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with context.only_observation(probe.__name__):
            return probe(context, *args, **kwargs)

    return look
