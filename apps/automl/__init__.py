"""Tuning of hyper-parameters: an experiment searches a space by trials, each a training run of its own.

Nothing runs here: trials are started, judged and stopped through `apps.training`. What is proposed next is asked of the
pure package `search`, in a process of its own, from the rows of the trials alone.
"""
