"""The names that scenes choose by."""
from __future__ import annotations

from ._hints import hinted
from ._library import decode, index_of, lib


@hinted
def choices(kind: str | None = None) -> dict[str, str] | list[str]:
    """The names of a kind, such as "integrator", each with a sentence about it; without a kind, all kinds."""
    kinds = [decode(lib.noli_choice_kind(i)) for i in range(lib.noli_choice_kinds())]
    if kind is None:
        return kinds
    index = index_of(kind, kinds, "kind of choice")
    return {decode(lib.noli_choice_name(index, i)): decode(lib.noli_choice_description(index, i))
            for i in range(lib.noli_choice_count(index))}
