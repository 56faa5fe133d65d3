"""The whole platform for a month, in minutes: its own services and loops on a real Postgres whose clock runs fast.

    python -m benchmarks.soak [--days 30] [--seed 1] [--people 40] [--organisations 5] [--json] [--stop-at-first]

Some forty people in five organisations open environments, train, cancel, are moved up and down in the queue and run
out of money, on simulated machines that die and come back. What they do goes through the services behind the pages;
what the platform does by itself is what `plstack.celery` has its beat do and what its files process does, called one
after the other in one process. After each simulated hour, and at the end, everything in `benchmarks.soak.invariants`
has to hold; once nobody arrives any more, the queue has to run empty.

Time. The platform decides by the database's clock alone, so the soak's own database (a scratch one beside that of
DATABASE_OWNER_URL, dropped at the end) has another clock: a schema before `pg_catalog` in the search path, with
`clock_timestamp()` and its kin (`clock.py`). It stands still but for a microsecond at each look, and is set forward to
the next moment at which anything can happen: somebody acts, a stub begins or ends, a deadline of the platform passes.
There, what has been nudged runs until it comes to rest. Every `--stride` minutes (15) every loop of the beat runs once,
as those whose turn came meanwhile would have; machines that live are heard from whenever the clock has moved, and the
silence of one that does not is counted every 20 s.

The same seed gives the same month: ids come from it as well. What is left out of the beat is in `loops.LEFT_OUT`.
"""
