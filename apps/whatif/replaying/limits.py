"""Limits on the size of a scenario, checked before it starts."""

from datetime import timedelta

LONGEST = timedelta(days=31)
MOST_TASKS = 20_000
MOST_CHANGES = 40
TIME_LIMIT = timedelta(minutes=60)
LARGEST_FILE = 25_000_000
MOST_TRACE_TASKS = 200_000
# Of both sides together, on one busy core, with a queue of dozens.
SECONDS_PER_TASK = 0.02


def expected_s(tasks: int) -> float:
    """About how long a scenario of so many tasks takes."""
    return 3.0 + tasks * SECONDS_PER_TASK
