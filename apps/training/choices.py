"""Closed sets of values of training."""

from apps.workloads.choices import Kind

KIND = Kind("training")
