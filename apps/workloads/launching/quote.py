"""The quote and the contract beside a launch form as it stands, complete or not."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.billing.models import Package
from apps.clusters.selectors import cluster_named
from apps.common.actor import Actor
from apps.workloads.choices import Kind
from apps.workloads.launching.form import LaunchForm
from apps.workloads.offers import quotecard
from apps.workloads.offers.cap_quote import with_cap
from apps.workloads.offers.option_picker import ticked_packages
from apps.workloads.offers.picker import PackageChoice, package_choices
from apps.workloads.offers.quoting import Offer, contract_on, offer
from apps.workloads.queueing.contract import Contract
from apps.workloads.spec import MOST_MEMBERS

PRIORITIES = frozenset("12345")
MAX_DIGITS = 4


def check_field(request: HttpRequest, form: LaunchForm, name: str) -> HttpResponse:
    """One field as it is left: what is wrong with it, nothing saved."""
    if name not in form.fields:
        return HttpResponse(status=404)
    return render(request, "workloads/checked.html", {"bound": form[name], "url": request.path})


def quote_context(
    actor: Actor,
    form: LaunchForm,
    kind: Kind,
    packages: Sequence[Package],
    choices: Sequence[PackageChoice] | None = None,
    *,
    package: str = "package",
    archs: tuple[str, ...] = (),
) -> dict[str, Any]:
    """`quote` for the card and `contract` for what is chosen.

    `packages`: all on offer. `choices`: the same with what they offer now, where the page knows it already. `package`:
    the field of the package that the start takes; where it is not the usual one, no other would do as well. `archs`:
    the only architectures on which the image runs, in `choices` too.
    """
    found = _offer(actor, form, kind, packages, choices or (), package, archs)
    if choices is None:
        waits = found is not None and not found.starts_now
        choices = package_choices(actor, packages, archs=archs) if waits else []
    card = with_cap(quotecard.card(actor, found, choices), found, form["cap"].value())
    return {"quote": card, "contract": _contract(actor, form, found)}


def _offer(
    actor: Actor,
    form: LaunchForm,
    kind: Kind,
    packages: Sequence[Package],
    choices: Sequence[PackageChoice],
    field: str,
    archs: tuple[str, ...],
) -> Offer | None:
    # Half-typed or made up: nothing is chosen yet.
    package = next((each for each in packages if str(each.pk) == str(form[field].value() or "")), None)
    if package is None or package.price is None:
        return None
    outlook = next((choice.forecast for choice in choices if choice.package.pk == package.pk), None)
    also = ticked_packages(form, package, packages) if field == "package" else ()
    cluster = cluster_named(form["cluster"].value())
    return offer(
        actor,
        package,
        outlook,
        kind=kind,
        also=also,
        cluster=cluster,
        members=members_of(form),
        least=_number(form, "least_members") if form.may_be_fewer() else None,
        archs=archs,
    )


def members_of(form: LaunchForm) -> int:
    """How many start together, as the form stands; 1 while that is no number that a start takes."""
    number = _number(form, "members") or 1
    return number if number <= MOST_MEMBERS else 1


def _number(form: LaunchForm, field: str) -> int | None:
    """As it is typed; None while it is no number from 1 on."""
    typed = str(form[field].value() or "") if field in form.fields else ""
    return int(typed) or None if typed.isascii() and typed.isdigit() and len(typed) <= MAX_DIGITS else None


def _contract(actor: Actor, form: LaunchForm, found: Offer | None) -> Contract | None:
    """Under which contract it would run on the package that is chosen."""
    if found is None:
        return None
    asked = str(form["priority"].value() or "") if "priority" in form.fields else ""
    return contract_on(
        actor,
        found.package,
        preemptible=not form["uninterruptible"].value(),
        priority=int(asked) if asked in PRIORITIES else None,
        also=[each.package for each in found.choices[1:]],
        most=form.most_priority,
    )
