"""The words of one kind, steps or checks, each loaded when a scenario first uses it."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Generic, TypeVar

from rocketchaos.harness.language.words import Word

W = TypeVar("W", bound=Word)


class WordRegistry(Mapping[str, type[W]], Generic[W]):
    """Words with their models, in the order of the documentation.

    The word `reset-offset` is the class `ResetOffset` in the module `reset_offset`. A scenario uses a few of them,
    and loading all takes a while.
    """

    def __init__(
        self, package: str, *words: str, made: Mapping[str, Callable[[str], type[W]]] = MappingProxyType({})
    ) -> None:
        """
        Args:
            package: where the modules are.
            words: all of them.
            made: the function that makes the models of words without a module.
        """
        self._package = package
        self._made = made
        self._models: dict[str, type[W]] = {}
        self._words = dict.fromkeys(words)

    def __getitem__(self, word: str) -> type[W]:
        if word not in self._words:
            raise KeyError(word)
        if word in self._made:
            if word not in self._models:
                self._models[word] = self._made[word](word)
            return self._models[word]
        module = import_module(f"{self._package}.{word.replace('-', '_')}")
        model: type[W] = getattr(module, word.title().replace("-", ""))
        return model

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)
