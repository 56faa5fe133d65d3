"""Pipelines: training runs after training runs, as a graph whose edges may have conditions.

Nothing runs here: each step is a training run like its template, submitted as the pipeline's owner with the rights,
prices and quota of that moment. What starts next follows from the rows alone, by the pure package `graph`.
"""
