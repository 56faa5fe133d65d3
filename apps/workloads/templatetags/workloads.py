"""Filters for what the kernel knows."""

from django import template

from apps.workloads.words import translated

register = template.Library()
register.filter("driver_words", translated)
