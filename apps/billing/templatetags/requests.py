"""`{% load requests %}{% packages_to_request %}`: below a picker, the packages that one has to ask for."""

from typing import Any

from django import template

from apps.billing.requests.selectors import requestable_packages

register = template.Library()


@register.inclusion_tag("billing/parts/to_request.html", takes_context=True)
def packages_to_request(context: dict[str, Any]) -> dict[str, Any]:
    """Nothing where everything on offer may be used."""
    actor = context.get("actor")
    request = context.get("request")
    return {"rows": requestable_packages(actor) if actor else [], "next": request.path if request else "/"}
