"""The search of a table's best model, as it runs on the user's machine: the platform's own processes never import it.

It is copied into the run's code as a package beside `search.py`, and needs the packages of the runtime `flaml-tables`.
Nothing here knows Django; what it is told stands in `search.json`, and what it finds goes to `$PLSTACK_OUTPUT`:

    leaderboard.json          every trial so far, rewritten after each
    result.json               the best model's scores on the rows that no trial saw, and what explains them
    predictions.csv           those rows with what the model says of them
    report.html               the same for people, in one file
    model/                    the model, its signature, the recorded steps, and predict.py: CSV in, CSV out
    checkpoints/search.json   the trials, from which another start goes on
    problem.json              why nothing could be searched, as a code with parameters
"""
