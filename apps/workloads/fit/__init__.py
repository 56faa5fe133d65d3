"""After a run: what it used at most, which smaller package would have done, and what that is in money."""
