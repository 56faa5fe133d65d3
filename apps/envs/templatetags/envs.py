"""`{% load envs %}`: words for values that a query brings without their model."""

from django import template

from apps.envs.choices import SnapshotKind

register = template.Library()


@register.filter
def snapshot_kind(value: str | None) -> str:
    return str(SnapshotKind(value).label) if value else ""
