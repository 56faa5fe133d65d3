"""Experiments of others: Katib's `Experiment` in YAML, Optuna's studies in SQLite."""
