"""Closed sets of values of boards, and their limits."""

from apps.workloads.choices import Kind

KIND = Kind("tensorboard")

MOST_RUNS = 10
IDLE_MINUTES = 20
"""Without a request from a browser; then it ends. TensorBoard asks for new data while its page is in sight."""
LONGEST_S = 12 * 3600
"""However much it is looked at: a page that is left open on a screen must not cost for ever."""
LEAST_MEMORY_MIB = 512
"""Of the package that it takes: TensorBoard itself needs about 100, and keeps samples of what it has read."""
