"""Schedules: a training run kept as a template, started again by time.

A schedule says what should be (`next_at`), a loop makes it so. It writes down each moment as a start in the transaction
that moves `next_at` on, and a unique key keeps it from being written twice; then it carries the start out, as the owner
with the rights of now, in the transaction that says how it went. So two loops start a moment once, and whoever is
killed leaves it to the next. Moments that passed while the platform stood still are one start, which says how many.

What a start may not do is told in its row: no money, no quota, a right or the image lost. After several in a row the
schedule pauses itself and tells its owner.
"""
