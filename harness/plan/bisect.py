"""The search for the first version that answers differently, by halves. Pure: who runs it asks the versions.

An answer is a word, such as an outcome. Every version is asked several times, because answers may race: two
versions differ where the 95 % intervals of some answer's share don't overlap. A version between two that
differ is asked until it differs from one of them, or so often that it must be left undecided.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from rocketchaos.harness.core.intervals import wilson_interval

FEWEST = 4
"""The intervals of 4 of 4 and of 0 of 4 don't overlap; those of 3 do."""
AT_MOST = 5
"""Times as often as at first a version is asked, before it is left undecided."""

Answers = Counter[str]
Asked = Mapping[str, Answers]
Ask = Sequence[tuple[str, int]]
"""Versions, each with how many more answers are wanted. One that says nothing gives fewer, or none."""
Search = Generator[Ask, Asked, "History"]


class Ending(Enum):
    """What a search found; the exit codes of a bisect go by it."""

    FOUND = "found"
    """One version is the first that differs."""
    ALIKE = "alike"
    """All that were asked answer alike."""
    SEVERAL = "several"
    """The answer changes more than once."""
    UNDECIDED = "undecided"
    """The ends, or what lies between, don't differ clearly in this many runs, or show nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """Between two versions the answer changes."""

    before: str
    """The last that answers as before."""
    first: str
    """The first that answers differently."""
    between: tuple[str, ...] = ()
    """Versions between them that don't differ clearly from both, or show nothing."""


@dataclass(frozen=True, slots=True)
class History:
    """The result of the search."""

    ending: Ending
    changes: tuple[Change, ...]
    """The oldest first."""
    answers: Asked
    """Of every version that was asked, in order."""


def search(
    versions: Sequence[str],
    *,
    repeat: int = FEWEST,
    at_a_time: int = 1,
    ask_all: bool = False,
    ends_suffice: bool = False,
) -> Search:
    """Search; yields whom to ask, is sent the answers, and returns what was found.

    Where the ends answer alike, or a version between them answers as neither, all versions are asked: only
    that shows a history that changes there and back. Otherwise one version in the middle of each longer
    stretch that the halving skipped is asked in addition.

    Args:
        versions: at least two, the oldest first. repeat: how often each is asked at first. at_a_time: how
        many versions between the ends are asked in parallel. ask_all: ask every version. ends_suffice: where
        the ends answer alike, that is all that is wanted.
    """
    state = _State(versions, repeat)
    yield from state.ask([0, len(versions) - 1] if not ask_all else range(len(versions)))
    if not ask_all:
        yield from state.part_ends()
        if state.ends_differ:
            yield from state.halve(at_a_time)
            yield from state.look_where_nobody_asked()
        elif state.ends_look_different or (ends_suffice and state.ends_speak):
            return state.history()
        if not state.ends_differ or state.strange:
            yield from state.ask(range(len(versions)))
            ask_all = True
    if ask_all:
        yield from state.part_neighbours()
    return state.history()


class _State:
    """Who has answered what so far."""

    def __init__(self, versions: Sequence[str], repeat: int) -> None:
        self._versions = versions
        self._repeat = repeat
        self._limit = max(repeat, FEWEST) * AT_MOST
        self._answers: dict[str, Answers] = {}
        self._times: Counter[str] = Counter()
        self._lo, self._hi = 0, len(versions) - 1
        self.strange = False
        """A version answered so that there is more than one change."""

    def ask(self, numbers: Sequence[int] | range, times: int | None = None) -> Generator[Ask, Asked, None]:
        """Ask these versions. Ask a version again only if `times` is given."""
        wanted = [
            self._versions[number] for number in numbers if times is not None or number not in self._known
        ]
        if wanted:
            yield from self._ask([(item, self._repeat if times is None else times) for item in wanted])

    def _ask(self, whom: Ask) -> Generator[Ask, Asked, None]:
        found = yield whom
        for version, times in whom:
            self._times[version] += times
            self._answers.setdefault(version, Counter()).update(found.get(version, Counter()))

    @property
    def _known(self) -> set[int]:
        return {number for number, version in enumerate(self._versions) if version in self._answers}

    def _of(self, number: int) -> Answers:
        return self._answers[self._versions[number]]

    def _spent(self, number: int) -> bool:
        """Whether it has been asked as often as is sensible, or never says anything."""
        times = self._times[self._versions[number]]
        return times >= self._limit or not self._of(number)

    @property
    def ends_differ(self) -> bool:
        """Whether the first and the last version answer differently."""
        return apart(self._of(0), self._of(len(self._versions) - 1))

    @property
    def ends_speak(self) -> bool:
        """Whether both ends say anything."""
        return bool(self._of(0) and self._of(len(self._versions) - 1))

    @property
    def ends_look_different(self) -> bool:
        """Whether more answers might set the ends apart."""
        return _look_different(self._of(0), self._of(len(self._versions) - 1))

    def part_ends(self) -> Generator[Ask, Asked, None]:
        """Ask the ends until they differ, where they look as if they did."""
        ends = [0, len(self._versions) - 1]
        while self.ends_look_different and not self.ends_differ:
            more = [end for end in ends if not self._spent(end)]
            if not more:
                return
            yield from self.ask(more, self._repeat)

    def halve(self, at_a_time: int) -> Generator[Ask, Asked, None]:
        """Narrow down where the answer changes first."""
        skipped: set[int] = set()
        while not self.strange:
            inside = [item for item in range(self._lo + 1, self._hi) if item not in skipped]
            if not inside:
                return
            parts = min(at_a_time, len(inside)) + 1
            chosen = list(dict.fromkeys(inside[len(inside) * part // parts] for part in range(1, parts)))
            yield from self._place(chosen)
            sides = {item: self._side(item) for item in chosen}
            skipped |= {item for item, side in sides.items() if side is None}
            self._narrow(sides)

    def _place(self, chosen: Sequence[int]) -> Generator[Ask, Asked, None]:
        """Ask until each has its side; where that isn't plain, the ends too, which were asked just a few times."""
        yield from self.ask(chosen)
        while more := [number for number in chosen if self._side(number) is None and not self._spent(number)]:
            ends = [item for item in (0, len(self._versions) - 1) if not self._spent(item)]
            yield from self.ask([*more, *ends], self._repeat)

    def _side(self, number: int) -> int | None:
        """-1: it answers as the oldest; 1: as the newest; 0: as neither; None: undecided."""
        old, new = (apart(self._of(number), self._of(end)) for end in (0, len(self._versions) - 1))
        if old and new:
            return 0
        return None if not (old or new) else 1 if old else -1

    def _narrow(self, sides: Mapping[int, int | None]) -> None:
        found = {item: side for item, side in sides.items() if side is not None}
        as_old = [item for item, side in found.items() if side == -1]
        as_new = [item for item, side in found.items() if side == 1]
        out_of_turn = bool(as_old and as_new) and max(as_old) > min(as_new)
        self.strange = self.strange or 0 in found.values() or out_of_turn
        self._lo = max([self._lo, *as_old])
        self._hi = min([self._hi, *as_new])

    def look_where_nobody_asked(self) -> Generator[Ask, Asked, None]:
        """Ask the middle of the longest stretch on each side of the change that has not run yet."""
        known = sorted(self._known)
        gaps = [(b - a, a, b) for a, b in pairwise(known) if b - a > 2]
        sides = ([gap for gap in gaps if gap[2] <= self._lo], [gap for gap in gaps if gap[1] >= self._hi])
        chosen = [(a + b) // 2 for _, a, b in (max(side) for side in sides if side)]
        if not chosen or self.strange:
            return
        yield from self._place(chosen)
        for item in chosen:
            side = self._side(item)
            self.strange = self.strange or side not in (None, -1 if item < self._lo else 1)

    def part_neighbours(self) -> Generator[Ask, Asked, None]:
        """Ask neighbours that look different until they differ."""
        while True:
            speaking = [item for item in sorted(self._known) if self._of(item)]
            unclear = {
                item
                for pair in pairwise(speaking)
                if _look_different(*map(self._of, pair)) and not apart(*map(self._of, pair))
                for item in pair
                if not self._spent(item)
            }
            if not unclear:
                return
            yield from self.ask(sorted(unclear), self._repeat)

    def history(self) -> History:
        """What is known now."""
        numbers = sorted(self._known)
        speaking = [number for number in numbers if self._of(number)]
        changes = tuple(self._changes(speaking))
        if changes:
            ending = Ending.FOUND if len(changes) == 1 else Ending.SEVERAL
        else:
            whole = len(numbers) == len(self._versions) or not self.ends_look_different
            ending = Ending.ALIKE if whole and len(speaking) > 1 else Ending.UNDECIDED
        return History(ending, changes, {self._versions[number]: self._of(number) for number in numbers})

    def _changes(self, speaking: Sequence[int]) -> Iterator[Change]:
        """Where the answer changes; what doesn't differ clearly from both sides belongs to neither."""
        since = 0
        for at, first in enumerate(speaking):
            alike = [number for number in speaking[since:at] if apart(self._of(number), self._of(first))]
            if alike and apart(self._of(speaking[since]), self._of(first)):
                before, since = alike[-1], at
                between = tuple(self._versions[before + 1 : first])
                yield Change(self._versions[before], self._versions[first], between)


def apart(a: Answers, b: Answers) -> bool:
    """Whether the shares of some answer differ, their 95 % intervals, after Wilson, being clear of each other."""
    if not a or not b:
        return False
    for answer in {*a, *b}:
        (a_low, a_high), (b_low, b_high) = (wilson_interval(item[answer], item.total()) for item in (a, b))
        if a_high < b_low or b_high < a_low:
            return True
    return False


def _look_different(a: Answers, b: Answers) -> bool:
    """Whether more answers might set them apart: some share differs."""
    if not a or not b:
        return False
    return any(a[answer] * b.total() != b[answer] * a.total() for answer in {*a, *b})
