"""Algorithms of hyper-parameter tuning: pure of Django, database and clock.

The state of a search lies in the caller's rows alone. An `Inquiry` carries the space, the objectives and every past
trial, an `Answer` the values to try next; what a sampler has to remember goes out in `attrs` and `study_attrs` and
comes back with the next inquiry. So whoever dies between two inquiries, nothing of the search is lost.

`process` starts the process of its own in which the libraries of the algorithms (Optuna, scikit-learn) are loaded: the
platform's processes never load them. Modules below `engine` are what that process runs, and nothing else imports them.
"""
