"""What an operator may tune about a pass."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Times in seconds. `evictions` bounds the searches for victims in one pass; the rest waits for the next one.

    `patience`: how far short tasks may pass long ones of the same queue, see `order.Turns`; 0 is plain age.
    `in_order`: nothing starts behind a task that cannot (strict first come, first served).
    """

    in_order: bool = False
    patience: float = 0.0
    reservations: int = 16
    evictions: int = 64
    notice_s: float = 120.0
    save_window_s: float = 300.0
    explain_holders: int = 200
    explain_alternatives: int = 16


DEFAULT_RULES = Rules()
