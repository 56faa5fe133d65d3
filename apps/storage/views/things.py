"""What pages of volumes and of datasets have in common: lists, sharing, and acts that ask first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from apps.common import bulk
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.requests import ActorRequest
from apps.common.tables import Table
from apps.storage.choices import Right
from apps.storage.forms import ShareForm
from apps.storage.models import Owned
from apps.storage.sharing import require_manage, share, unshare
from apps.storage.tables import StorageFilter

Rows = Callable[[Actor], QuerySet[Any]]


def listing(
    request: ActorRequest, visible: Rows, binned: Rows, table: type[Table], acts: bulk.BulkList
) -> dict[str, Any]:
    """The list's context; `?bin=on` chooses what was deleted."""
    in_bin = request.GET.get("bin") in ("on", "true", "1")
    filtered = StorageFilter(request.GET, queryset=(binned if in_bin else visible)(request.actor), request=request)
    offered = None if in_bin else bulk.offered(request, acts)
    rows = paged(request, table(filtered.qs, request=request, bulk=offered))
    return {
        "table": rows,
        "filter": filtered,
        "in_bin": in_bin,
        "nothing_yet": not filtered.form.has_changed() and not rows.paginator.count,
    }


def submit_or_rerender(
    request: ActorRequest, form: forms.Form, template: str, context: dict[str, Any], do: Callable[[], HttpResponse]
) -> HttpResponse:
    """What `do` gives where the form is good; otherwise the page again with the words beside the fields."""
    if form.is_valid():
        try:
            return do()
        except DomainError as error:
            show_error(form, error)
    return render(request, template, {**context, "form": form}, status=REFUSED)


@dataclass(frozen=True, slots=True)
class Question:
    """A dialog before an act: what `components/confirm_body.html` shows, and what is done on POST."""

    words: Callable[[Any], dict[str, Any]]
    do: Callable[[Actor, Any], None]
    done: Any
    back: str


def carry_out(request: ActorRequest, thing: Any, question: Question, back: str) -> HttpResponse:
    """Carry out; a refusal comes back to the page in words."""
    try:
        question.do(request.actor, thing)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, str(question.done))
    return redirect(back)


@dataclass(frozen=True, slots=True)
class Pages:
    """One kind of thing: its detail page's template and context by tab, its URLs, how it is found, what is asked."""

    detail: str
    template: str
    frame: Callable[[ActorRequest, Any, str], dict[str, Any]]
    listing: str
    get: Callable[[Actor, UUID], Any]
    get_binned: Callable[[Actor, UUID], Any]
    questions: Mapping[str, Question]

    def tab(self, thing: Owned, tab: str) -> str:
        return f"{reverse(self.detail, args=[thing.pk])}?tab={tab}"

    def share(self, request: ActorRequest, thing_id: UUID) -> HttpResponse:
        """Share with the person chosen in the form."""
        thing = self.get(request.actor, thing_id)
        form = ShareForm(request.POST, thing=thing)

        def do() -> HttpResponse:
            data = form.cleaned_data
            share(request.actor, thing, user_id=data["user"], right=Right(data["right"]))
            return redirect(self.tab(thing, "sharing"))

        return submit_or_rerender(request, form, self.template, self.frame(request, thing, "sharing"), do)

    def unshare(self, request: ActorRequest, thing_id: UUID, user_id: int) -> HttpResponse:
        """Who gives up their own right no longer sees it."""
        thing = self.get(request.actor, thing_id)
        unshare(request.actor, thing, user_id=user_id)
        return redirect(self.listing if user_id == request.actor.user_id else self.tab(thing, "sharing"))

    def act(self, request: ActorRequest, thing_id: UUID, name: str) -> HttpResponse:
        """`delete`, and for what lies in the bin `restore` and `purge`: a dialog first, then the deed."""
        question = self.questions.get(name)
        if question is None:
            raise Http404
        load = self.get if name == "delete" else self.get_binned
        thing = load(request.actor, thing_id)
        require_manage(request.actor, thing)
        if request.method == "POST":
            return carry_out(request, thing, question, reverse(self.listing) + question.back)
        action = reverse(f"{self.detail}_act", args=[thing.pk, name])
        return render(request, "components/confirm_body.html", {**question.words(thing), "action": action})
