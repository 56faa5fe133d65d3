"""Saved views: listed, saved from the page that they show, opened, renamed, shared and deleted."""

from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import Question, ask, done, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.models import ViewSubject
from apps.training.saved_views import selectors, services
from apps.training.saved_views.forms import ViewForm
from apps.training.saved_views.table import ViewTable

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


@requires(VIEW)
@require_GET
def view_list(request: ActorRequest) -> HttpResponse:
    """`?q=` looks in the names; `?of=mine|organisation`."""
    whose, looked_for = request.GET.get("of", ""), request.GET.get("q", "").strip()[:80].replace("\0", "")
    has_any = selectors.views(request.actor).exists()
    table = ViewTable(
        selectors.views_of(request.actor, whose).filter(name__icontains=looked_for),
        request=request,
        actor=request.actor,
    )
    context = {"table": paged(request, table), "has_any": has_any, "whose": whose, "looked_for": looked_for}
    return render(request, "training/views/list.html", context)


@requires(VIEW)
@require_GET
def open_view(request: ActorRequest, view_id: UUID) -> HttpResponse:
    row = selectors.view(request.actor, view_id)
    found = selectors.opened(request.actor, row)
    if row.subject == ViewSubject.COMPARISON and found.left < 2:
        messages.error(request, _("Fewer than two runs of this view are left that you may see."))
        return redirect("training:views")
    if found.lost:
        words = ngettext(
            "%(number)s run of this view is not shown: it was deleted, or you may not see it.",
            "%(number)s runs of this view are not shown: they were deleted, or you may not see them.",
            found.lost,
        )
        messages.warning(request, words % {"number": found.lost})
    return redirect(found.address)


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def save_view(request: ActorRequest) -> HttpResponse:
    """`?subject=`, `?query=`; the query of the page that asks, as its scripts left it, comes before the link's own."""
    subject = _subject(request.GET.get("subject", ""))
    query = request.GET.get("query", "")
    if request.method == "GET" and (current := request.headers.get("HX-Current-URL")):
        query = urlsplit(current).query
    shown = selectors.shown_view(request.actor, request.GET.get("view", ""))
    initial = {"name": shown.name, "shared": shown.shared} if shown else None
    form = ViewForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            row = services.save(request.actor, subject=subject, query=query, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("Saved as %(name)s.") % {"name": row.name})
            return redirect(selectors.opened(request.actor, row).address)
    page = selectors.PAGES[subject]
    question = Question(
        title=_("Save this view"),
        text=_("What the page shows now, under a name with a link. A view of yours of the same name is replaced."),
        button=_("Save"),
        action=f"{reverse('training:save_view')}?{urlencode({'subject': subject.value, 'query': query})}",
        back=_("Back"),
        back_url=f"{reverse(page)}?{query}",
        plain=True,
    )
    return ask(request, form, question)


def _subject(text: str) -> ViewSubject:
    try:
        return ViewSubject(text)
    except ValueError as error:
        raise NotFound from error


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def edit_view(request: ActorRequest, view_id: UUID) -> HttpResponse:
    row = selectors.changeable(request.actor, view_id)
    initial = {"name": row.name, "shared": row.shared}
    form = ViewForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            services.change(request.actor, view_id, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The view was changed."), "training:views")
    question = Question(
        title=_("Change %(name)s") % {"name": row.name},
        text=_("Its link stays the same."),
        button=_("Save"),
        action=reverse("training:edit_view", args=[row.pk]),
        back=_("Saved views"),
        back_url=reverse("training:views"),
        plain=True,
    )
    return ask(request, form, question)


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def delete_view(request: ActorRequest, view_id: UUID) -> HttpResponse:
    row = selectors.changeable(request.actor, view_id)
    if request.method == "POST":
        try:
            services.delete(request.actor, view_id)
        except DomainError as error:
            say_refusal(request, error)
            return redirect("training:views")
        return done(request, _("%(name)s was deleted.") % {"name": row.name}, "training:views")
    question = Question(
        title=_("Delete %(name)s?") % {"name": row.name},
        text=_("Its link stops working, for colleagues too. The runs stay as they are."),
        button=_("Delete"),
        action=reverse("training:delete_view", args=[row.pk]),
        back=_("Saved views"),
        back_url=reverse("training:views"),
    )
    return ask(request, forms.Form(), question)
