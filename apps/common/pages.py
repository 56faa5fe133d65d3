"""What the pages of every app have in common: paged lists, refusals, questions, and what was done."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django_tables2 import LazyPaginator, RequestConfig

from apps.common.errors import DomainError
from apps.common.tables import Table


class OpenPage(Page[Any]):
    """A page of a list that nobody counts: its numbers follow from its place alone."""

    def start_index(self) -> int:
        return (self.number - 1) * self.paginator.per_page + 1 if len(self) else 0

    def end_index(self) -> int:
        return max(0, self.start_index() + len(self) - 1)


class OpenPaginator(LazyPaginator):
    def page(self, number: Any) -> OpenPage:
        found = super().page(number)
        return OpenPage(found.object_list, found.number, self)


PER_PAGE = 25
# What a form that was refused answers with: htmx swaps it in, nothing typed is lost.
REFUSED = 422


def paged(request: HttpRequest, table: Table, *, counted: bool = True, per_page: int = PER_PAGE) -> Table:
    """Sort and page by the URL. `counted=False` for logs that grow for ever: one row more is read, none are counted."""
    paginate: dict[str, Any] = {"per_page": per_page, "silent": True}
    if not counted:
        paginate["paginator_class"] = OpenPaginator
    RequestConfig(request, paginate=paginate).configure(table)
    return table


def refused(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    return render(request, template, dict(context), status=REFUSED)


@dataclass(frozen=True, slots=True)
class Question:
    """Words and address of an act that asks for something first. `back` is the list that it belongs to."""

    title: str
    text: str
    button: str
    action: str
    back: str
    back_url: str


def ask(request: HttpRequest, form: forms.Form, question: Question) -> HttpResponse:
    """A dialog where the page opened one; a page of its own where the form was refused or opened by itself."""
    posted = request.method == "POST"
    template = "ask" if posted or not request.headers.get("HX-Request") else "ask_dialog"
    context = {"form": form, **asdict(question)}
    return render(request, f"components/{template}.html", context, status=REFUSED if posted else 200)


def say_refusal(request: HttpRequest, error: DomainError) -> None:
    """A refusal of an act without a form, as a message on the page that one goes back to."""
    messages.error(request, error.sentences)


def done(request: HttpRequest, words: str, to: str, *args: object) -> HttpResponseRedirect:
    """Say what was done, and go on to the named page."""
    messages.success(request, words)
    return redirect(to, *args)
