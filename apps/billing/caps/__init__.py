"""The most that one run may cost."""
