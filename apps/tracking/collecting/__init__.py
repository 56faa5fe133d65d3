"""Metrics are read from what runs write anyway: their logs and the files of their output."""
