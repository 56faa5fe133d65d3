"""Ready-made search for tables: a dataset version and the column to predict, searched by a run of training.

The search is a run like any other: its rights, quota, price, cap, log, metrics and end are training's. What is here
writes the run's code from `program`, reads its output, and keeps what was asked. Nothing of a table is computed in the
platform's own processes, which read the head of a file alone.
"""
