"""Pages of secrets: one's own and the organisation's, each set once, replaced and deleted; none shows a value."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import Denied, DomainError
from apps.common.forms import show_error
from apps.common.middleware import says_beside
from apps.common.pages import REFUSED, done, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.secrets import choosing, selectors, services
from apps.secrets.choices import Scope
from apps.secrets.forms import DescribeForm, NewForm, RotateForm
from apps.secrets.models import Secret
from apps.secrets.uses import Use
from apps.tenants import tree

USE = in_organisation(P.SECRETS_USE)
NAMED = 10
LIST, NEW, DETAIL = "secrets/list.html", "secrets/new.html", "secrets/detail.html"


@requires(USE)
@require_GET
def secret_list(request: ActorRequest) -> HttpResponse:
    """`?scope=organisation` shows the organisation's."""
    scope = _scope(request)
    rows = (
        selectors.visible(request.actor).filter(owner__isnull=scope is Scope.ORGANISATION).select_related("created_by")
    )
    secrets = list(rows)
    paths = tree.paths(secret.department_id for secret in secrets)
    for secret in secrets:
        secret.path = paths.get(secret.department_id, "")  # type: ignore[attr-defined, arg-type]
    context = {"secrets": secrets, "tabs": _tabs(scope), "may_add": _may_add(request, scope), **_words(scope)}
    return render(request, LIST, context)


@sensitive_post_parameters("value")
@says_beside("value")
@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    scope = _scope(request)
    if not _may_add(request, scope):
        raise Denied(P.SECRETS_MANAGE)
    form = NewForm(request.POST or None, actor=request.actor, scope=scope)
    if request.method != "POST":
        return render(request, NEW, {"form": form, **_words(scope)})
    if form.is_valid():
        try:
            made = services.create(request.actor, form.new(scope))
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s is set.") % {"name": made.name}, "secrets:detail", made.pk)
    return render(request, NEW, {"form": form, **_words(scope)}, status=REFUSED)


@requires(USE)
@require_GET
def choices(request: ActorRequest) -> HttpResponse:
    """For the form of work that starts, once its fold of secrets is opened."""
    return render(request, "secrets/choices.html", {"secrets": choosing.rows(request.actor, ())})


@requires(USE)
@require_GET
def detail(request: ActorRequest, secret_id: UUID) -> HttpResponse:
    return _page(request, selectors.get(request.actor, secret_id))


@sensitive_post_parameters("value")
@says_beside("value")
@requires(USE)
@require_POST
def rotate(request: ActorRequest, secret_id: UUID) -> HttpResponse:
    secret, form = selectors.get(request.actor, secret_id), RotateForm(request.POST)
    if form.is_valid():
        try:
            services.rotate(request.actor, secret_id, form.cleaned_data["value"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s has its new value.") % {"name": secret.name}, "secrets:detail", secret.pk)
    return _page(request, secret, rotate=form)


@requires(USE)
@require_POST
def describe(request: ActorRequest, secret_id: UUID) -> HttpResponse:
    secret = selectors.get(request.actor, secret_id)
    form = DescribeForm(request.POST, actor=request.actor, scope=secret.scope)
    if form.is_valid():
        try:
            services.describe(
                request.actor,
                secret_id,
                description=form.cleaned_data["description"],
                department_id=form.department_id(),
            )
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("Saved."), "secrets:detail", secret.pk)
    return _page(request, secret, describe=form)


@requires(USE)
@require_POST
def delete(request: ActorRequest, secret_id: UUID) -> HttpResponse:
    """The dialog has named what uses it; `used` is how many it named, so that nothing is deleted unseen."""
    secret = selectors.get(request.actor, secret_id)
    seen = request.POST.get("used") == str(len(selectors.uses(secret)))
    try:
        services.delete(request.actor, secret_id, although_used=seen)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("secrets:detail", secret_id)
    words = _("%(name)s has been deleted.") % {"name": secret.name}
    response = done(request, words, "secrets:list")
    response["Location"] += f"?scope={secret.scope.value}"
    return response


def _page(
    request: ActorRequest, secret: Secret, *, rotate: RotateForm | None = None, describe: DescribeForm | None = None
) -> HttpResponse:
    """One secret, what uses it, and how it is changed; with a form that was refused."""
    may_change = selectors.may_change(request.actor, secret)
    initial = {"description": secret.description, "department": secret.department_id or ""}
    used = selectors.uses(secret) if may_change else []
    context = {
        "secret": secret,
        "path": tree.paths([secret.department_id]).get(secret.department_id or UUID(int=0), ""),
        "uses": used,
        "used_html": _named(used),
        "may_change": may_change,
        "rotate": rotate or RotateForm(),
        "describe": describe or DescribeForm(initial=initial, actor=request.actor, scope=secret.scope),
        **_words(secret.scope),
    }
    return render(request, DETAIL, context, status=REFUSED if rotate or describe else 200)


def _named(used: Sequence[Use]) -> SafeString:
    """For the dialog: the first of what uses the secret, and how many it names."""
    lines = format_html_join(
        "", "<li>{} <strong>{}</strong> <span>{}</span></li>", ((u.kind, u.name, u.owner) for u in used[:NAMED])
    )
    more = format_html("<li>…</li>") if len(used) > NAMED else ""
    hidden = format_html('<input type="hidden" name="used" value="{}">', len(used))
    shown = format_html('<p class="pl-mute mt-3 mb-1">{}</p><ul>{}{}</ul>', _("What uses it"), lines, more)
    return format_html("{}{}", hidden, shown if used else "")


def _scope(request: HttpRequest) -> Scope:
    return Scope.ORGANISATION if request.GET.get("scope") == Scope.ORGANISATION else Scope.PERSONAL


def _may_add(request: ActorRequest, scope: Scope) -> bool:
    return request.actor.may(P.SECRETS_MANAGE if scope is Scope.ORGANISATION else P.SECRETS_USE)


def _words(scope: Scope) -> dict[str, Any]:
    return {
        "scope": scope.value,
        "of_organisation": scope is Scope.ORGANISATION,
        "list_url": f"{reverse('secrets:list')}?scope={scope.value}",
        "new_url": f"{reverse('secrets:new')}?scope={scope.value}",
    }


def _tabs(current: Scope) -> list[dict[str, Any]]:
    return [{"label": each.label, "url": f"?scope={each.value}", "current": each is current} for each in Scope]
