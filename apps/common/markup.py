"""The small pieces of markup that lists repeat on each row, as functions: as templates they take ten times as long."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.common.badges import badge

Text = str | Promise


def icon(name: str) -> SafeString:
    """One that says nothing by itself."""
    return format_html('<i class="ti ti-{}" aria-hidden="true"></i>', name)


def state(status: str, label: Text = "", *, icon: str = "", big: bool = False) -> SafeString:
    """Badge of a status (`queued` … `stopped`, `stale`) or of a bare tone (`warn`) with a label of its own."""
    look = badge(status, label)
    words = "<span>{}</span>" if look.tone == "stale" else "{}"
    return format_html(
        '<span class="pl-state is-{}{}"><i class="ti ti-{}" aria-hidden="true"></i>' + words + "</span>",
        look.tone,
        " big" if big else "",
        icon or look.icon,
        look.label,
    )


def simulated() -> SafeString:
    """The badge that every node, row and header of simulated hardware carries."""
    return format_html(
        '<span class="pl-sim" title="{}"><i class="ti ti-flask-2" aria-hidden="true"></i>{}</span>',
        _("This hardware does not exist: nothing here counts in totals or bills."),
        _("Simulated"),
    )


def tag(text: Text, icon: str = "", title: Text = "") -> SafeString:
    return format_html(
        '<span class="pl-tag"{}>{}{}</span>',
        format_html(' title="{}"', title) if title else "",
        format_html('<i class="ti ti-{}" aria-hidden="true"></i>', icon) if icon else "",
        text,
    )


def menu(of: str, items: Iterable[Mapping[str, Any]]) -> SafeString:
    """The menu of acts on the row or thing that is called `of`.

    Of an item: `label`, `icon`; `url` for a link, `dialog` for the id of a dialog on the page, `hx_get` for one that is
    fetched into #pl-dialog; `danger`; `disabled` with the reason, `why`.
    """
    return format_html(
        '<div class="dropdown d-inline-block"><button class="btn btn-sm btn-ghost btn-icon" type="button" '
        'data-bs-toggle="dropdown" aria-expanded="false" aria-label="{}"><i class="ti ti-dots" aria-hidden="true"></i>'
        '</button><div class="dropdown-menu dropdown-menu-end">{}</div></div>',
        _("Actions on %(of)s") % {"of": of},
        format_html_join("", "{}", ((_item(each),) for each in items)),
    )


def _item(item: Mapping[str, Any]) -> SafeString:
    shown = icon(item["icon"]) if item.get("icon") else ""
    if item.get("disabled"):
        why = format_html('<span class="pl-sub">{}</span>', item["why"]) if item.get("why") else ""
        return format_html(
            '<span class="dropdown-item" aria-disabled="true">{}<span>{}{}</span></span>', shown, item["label"], why
        )
    looks = mark_safe(" danger") if item.get("danger") else ""
    if item.get("dialog"):
        pressed = format_html('data-dialog="{}"', item["dialog"])
    elif item.get("hx_get"):
        pressed = format_html('hx-get="{}" hx-target="#pl-dialog"', item["hx_get"])
    else:
        return format_html('<a class="dropdown-item{}" href="{}">{}{}</a>', looks, item["url"], shown, item["label"])
    return format_html(
        '<button class="dropdown-item{}" type="button" {}>{}{}</button>', looks, pressed, shown, item["label"]
    )
