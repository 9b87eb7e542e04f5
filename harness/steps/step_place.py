"""Where in its scenario a run is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A step, also one inside another: `(3,)` is the fourth, `(3, 0, 1)` the second of its first branch."""

    indices: tuple[int, ...] = ()
    """The step's own index; then, for each step around it, the branch and the index in that."""
    iteration: int | None = None
    """Of the `repeat` around it, from 1; None: there is none."""

    def inside(self, branch: int, index: int, iteration: int | None = None) -> Place:
        """The place of a step inside this one; the iteration stays, unless another one is given."""
        return Place((*self.indices, branch, index), self.iteration if iteration is None else iteration)
