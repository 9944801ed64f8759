"""What the classes of results have in common."""
from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class Result:
    """A dataclass that is written on one line, and whose misspelt members are suggested."""

    __slots__ = ()

    def __repr__(self) -> str:
        values = (f"{field.name}={_short(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({', '.join(values)})"

    def __getattr__(self, name: str) -> Any:
        from ._hints import did_you_mean  # needs the library, which needs this class
        known = [field.name for field in fields(self)]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{did_you_mean(name, known)}")


def _short(value: Any) -> str:
    """Vectors and matrices in full, records as their number."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    return f"<{len(value)} records>" if value.dtype.names else " ".join(np.array2string(value, separator=", ").split())
