"""Money: the ledger, prices, meters and rating, and the rooms that stand on them.

A room has services, selectors and pages of its own; tables of all rooms lie in `models`. `services` and `selectors`
pass on what other apps call most.
"""
