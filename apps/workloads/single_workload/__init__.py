"""What kinds have alike whose rows stand for one workload each: list, page while it lives, end, log, and their API.

A row has `workload`, `owner` and `created_at`, and is found by a selector that shows the actor what they may see. A
kind names its own columns, words and answers (`apps/boards`, `apps/builds`); kinds that outlive their workloads, as
environments do, or keep versions of one, as training does, have pages of their own.
"""
