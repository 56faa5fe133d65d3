"""`{% load ports %}`: the ports of what runs, for who may open them."""

from typing import Any

from django import template

from apps.workloads.models import Workload
from apps.workloads.ports.places import port_places

register = template.Library()


@register.inclusion_tag("workloads/ports.html", takes_context=True)
def ports_card(context: dict[str, Any], workload: Workload | None) -> dict[str, Any]:
    """Nothing where no port was named, or none may be opened by who looks."""
    request = context["request"]
    places = port_places(request.actor, workload) if workload is not None and workload.is_live else []
    return {"places": places, "workload": workload, "request": request, "csrf_token": context.get("csrf_token")}
