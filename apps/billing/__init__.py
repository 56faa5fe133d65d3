"""Money: the ledger, prices, meters and rating, and the rooms that stand on them.

Each room has its own services, selectors and pages; the database tables of all rooms are in `models`. `services` and
`selectors` re-export what other apps call most.
"""
