"""Names that do not exist: the message says which one is meant."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ._library import nearest


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean "x"?', or nothing where no name is near."""
    found = nearest(name, list(known))
    return f'; did you mean "{found}"?' if found is not None else ""


def hinted(function: Callable) -> Callable:
    """The function, which names the nearest of its keywords where it does not know one."""
    kinds = [(parameter.name, parameter.kind) for parameter in inspect.signature(function).parameters.values()]
    if any(kind is inspect.Parameter.VAR_KEYWORD for _, kind in kinds):
        return function
    known = [name for name, kind in kinds if name not in ("self", "cls")
             and kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(function)
    def call(*arguments, **keywords):
        for name in keywords:
            if name not in known:
                raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                                f"{did_you_mean(name, known) or ': it takes ' + (', '.join(known) or 'none')}")
        return function(*arguments, **keywords)
    return call


def _hint_methods(kind: type) -> None:
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(value, classmethod):
            setattr(kind, name, classmethod(hinted(value.__func__)))
        elif inspect.isfunction(value):
            setattr(kind, name, hinted(value))


class _HintedType(type):
    """Names of classes: Mesh.boxx."""

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}{did_you_mean(name, _names(cls))}")


def _names(thing) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


class Hinted(metaclass=_HintedType):
    """A class whose keywords and attributes are suggested where they are misspelt."""

    #: attributes of objects, which the class does not have
    _OWN = frozenset({"c", "context", "scene", "statuses", "directory"})

    def __init_subclass__(cls, **keywords) -> None:
        super().__init_subclass__(**keywords)
        _hint_methods(cls)

    def __getattr__(self, name: str) -> Any:
        # a property that fails raises its own error again
        if name in dir(type(self)):
            return object.__getattribute__(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}"
                             f"{did_you_mean(name, _names(type(self)))}")

    def __setattr__(self, name: str, value: Any) -> None:
        # a misspelt property must not become an attribute that nothing reads; classes of others have what they like
        if name[0] != "_" and name not in self._OWN and type(self).__module__.startswith("noli.") \
                and not hasattr(type(self), name):
            hint = did_you_mean(name, _names(type(self)))
            if hint:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")
        object.__setattr__(self, name, value)
