"""Which views end up in a given class or function, by what their code names and what those names stand for."""

import types
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from inspect import unwrap
from typing import Any

OURS = ("apps.", "plstack.")


def reaches(view: Callable[..., Any], target: object) -> bool:
    """Whether `view`, a function or a class-based view, names `target` or something of ours that does."""
    seen: set[int] = set()
    waiting: list[Any] = [*_functions_of_view(view)]
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for found in _named(function):
            if found is target:
                return True
            if isinstance(found, types.FunctionType) and found.__module__.startswith(OURS):
                waiting.append(unwrap(found))
    return False


def _functions_of_view(view: Callable[..., Any]) -> Iterator[types.FunctionType]:
    owner = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if owner is None:
        yield unwrap(view)
        return
    for each in owner.__mro__:
        if each.__module__.startswith(OURS):
            yield from (unwrap(value) for value in vars(each).values() if isinstance(value, types.FunctionType))


@cache
def _named(function: types.FunctionType) -> Sequence[Any]:
    """The globals that the code names; of a module, what the code names in it."""
    names, found = set(_names(function.__code__)), list[Any]()
    for name in names:
        found.append(function.__globals__.get(name))
        if isinstance(found[-1], types.ModuleType):
            module = found[-1]
            found += [getattr(module, inner) for inner in names if inner in vars(module)]
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
