"""`{% load training %}`: the kernel's filters under the name that the pages of training know them by."""

from apps.workloads.templatetags.workloads import register

__all__ = ["register"]
