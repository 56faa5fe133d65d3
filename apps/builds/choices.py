"""Closed sets of values of builds."""

from apps.workloads.choices import Kind

KIND = Kind("image_build")
