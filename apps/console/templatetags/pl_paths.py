"""`{% load pl_paths %}`: departments by their paths, which the table has read for all its rows at once."""

from typing import Any

from django import template

register = template.Library()


@register.simple_tag
def department_path(table: Any, record: Any) -> str:
    return str(table.paths.get(record.department_id, ""))
