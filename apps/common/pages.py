"""Helpers for the pages of every app: paged lists, refused forms, confirmation dialogs, success messages."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import EmptyPage, Page
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django_tables2 import LazyPaginator, RequestConfig

from apps.common.errors import DomainError
from apps.common.tables import Table

FURTHEST = 2**31


class OpenPage(Page[Any]):
    """A page of a list of unknown length: its numbers follow from its position alone."""

    def start_index(self) -> int:
        return (self.number - 1) * self.paginator.per_page + 1 if len(self) else 0

    def end_index(self) -> int:
        return max(0, self.start_index() + len(self) - 1)


class OpenPaginator(LazyPaginator):
    """Of a list that nobody counts. Beyond `FURTHEST` there is no page: the database counts rows in 64 bits."""

    def validate_number(self, number: Any) -> int:
        found: int = super().validate_number(number)
        if found > FURTHEST:
            raise EmptyPage
        return found

    def page(self, number: Any) -> OpenPage:
        found = super().page(number)
        return OpenPage(found.object_list, found.number, self)


PER_PAGE = 25
# What a reader may choose instead. Whatever else an address asks for would let one request read a whole table.
SIZES = (25, 50, 100, 200)
# Status of a refused form: htmx swaps it in, nothing typed is lost.
REFUSED = 422


def paged(request: HttpRequest, table: Table, *, counted: bool = True, per_page: int = PER_PAGE) -> Table:
    """Sort and page by the URL. `counted=False` for endless logs: reads one row more instead of counting all."""
    asked = request.GET.get(table.prefixed_per_page_field, "")
    if asked and not (asked.isdigit() and int(asked) in SIZES):
        kept = request.GET.copy()
        del kept[table.prefixed_per_page_field]
        request.GET = kept  # type: ignore[assignment]  # the page's links repeat it
    table.sizes = SIZES if per_page in SIZES else (per_page, *SIZES)
    paginate: dict[str, Any] = {"per_page": per_page, "silent": True}
    if not counted:
        paginate["paginator_class"] = OpenPaginator
    RequestConfig(request, paginate=paginate).configure(table)
    return table


def refused(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    return render(request, template, dict(context), status=REFUSED)


@dataclass(frozen=True, slots=True)
class Question:
    """Texts and address of an act that needs confirmation or input. `back` is the list that it belongs to.

    `plain`: nothing is taken away by it.
    """

    title: str
    text: str
    button: str
    action: str
    back: str
    back_url: str
    plain: bool = False


def ask(request: HttpRequest, form: forms.Form, question: Question) -> HttpResponse:
    """Render a dialog if the page opened one, otherwise a page of its own, also after a refused form."""
    posted = request.method == "POST"
    template = "ask" if posted or not request.headers.get("HX-Request") else "ask_dialog"
    context = {"form": form, **asdict(question)}
    return render(request, f"components/{template}.html", context, status=REFUSED if posted else 200)


def say_refusal(request: HttpRequest, error: DomainError) -> None:
    """Show the refusal of an act without a form as a message on the next page."""
    messages.error(request, error.sentences)


def done(request: HttpRequest, words: str, to: str, *args: object) -> HttpResponseRedirect:
    """Show a success message and redirect to the named page."""
    messages.success(request, words)
    return redirect(to, *args)
