"""What the process of its own runs: the only modules that load Optuna, scikit-learn and SciPy.

Nothing imports this package but itself; `apps.automl.search.process` starts it (`__main__`).
"""
