"""The operator's settings of a pass."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Times in seconds. `evictions` bounds the searches for victims in one pass; the rest waits for the next one.

    `patience`: how far short tasks may pass long ones of the same queue, see `order.Turns`; 0 is plain age.
    `in_order`: nothing starts behind a task that cannot (strict first come, first served).
    `hold_after_s`: once a task that cannot start has waited this long, the free room on its reserved rows is held for
    it, however soon tasks behind it are predicted to end; up to `holds` tasks at a time.
    `firm_over_guarantee`: work that is not pre-emptible is never evicted. False: its own organisation spares it, but
    what that organisation holds beyond its guarantee can be reclaimed for guarantees of others.
    `explain`: False for replays. Waits then name reservations only, and a pass ends when no other task can start.
    """

    in_order: bool = False
    patience: float = 0.0
    reservations: int = 16
    hold_after_s: float = 6 * 3600.0
    holds: int = 4
    explain: bool = True
    evictions: int = 64
    notice_s: float = 120.0
    save_window_s: float = 300.0
    explain_holders: int = 200
    explain_alternatives: int = 16
    firm_over_guarantee: bool = True


DEFAULT_RULES = Rules()
