"""From the database or a trace to the two sides of a scenario, and through the replay to the figures."""
