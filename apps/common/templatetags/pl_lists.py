"""`{% load pl_lists %}`: what stands below every list: rows on a page, a page to go to, and the file of it."""

from typing import Any

from django import template
from django.core.paginator import Page
from django.template.context import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.tables import Table

register = template.Library()


@register.inclusion_tag("components/list_tools.html", takes_context=True)
def list_tools(context: Context, table: Table) -> dict[str, Any]:
    """Nothing but the export where everything stands on the smallest page."""
    request, page, paginator = context["request"], table.page, table.paginator
    counted = not getattr(paginator, "look_ahead", None)
    several = page.has_other_pages()
    return {
        "table": table,
        "sizes": table.sizes if several or paginator.per_page > min(table.sizes, default=0) else (),
        "size": paginator.per_page,
        "size_chosen": table.prefixed_per_page_field in request.GET,
        "last": paginator.num_pages if counted and several else 0,
        "page": page,
        "rest": _others(context, table.prefixed_page_field, table.prefixed_per_page_field),
        "export_url": _export_url(getattr(request, "actor", None), table, page),
        "query": request.GET.urlencode(),
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def kept_fields(context: Context, *names: str) -> SafeString:
    """Hidden inputs for what a form sends on of its page's address."""
    asked = context["request"].GET
    return _hidden((name, value) for name in names for value in asked.getlist(name))


def _others(context: Context, *left_out: str) -> SafeString:
    asked = context["request"].GET
    return _hidden((name, value) for name in asked if name not in left_out for value in asked.getlist(name))


def _hidden(fields: Any) -> SafeString:
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', fields)


def _export_url(actor: Actor | None, table: Table, page: Page[Any]) -> str:
    """Empty where nothing could be exported, and for whom the page of files is closed."""
    if not table.export or actor is None or not len(page):
        return ""
    needed, route = (
        (Permission.PLATFORM_OVERVIEW, "console:export_list")
        if actor.platform
        else (Permission.BILLING_VIEW_OWN, "billing:export_list")
    )
    try:
        return reverse(route) if actor.may(needed) else ""
    except NoReverseMatch:
        return ""
