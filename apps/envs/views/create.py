"""A new environment: the form, and its quote while one chooses."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.prices.own import own_terms
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import one_moment
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan_rate
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import selectors
from apps.envs.choices import KIND
from apps.envs.forms import NEVER, NewForm, SettingsForm, initial_of
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import create as creating
from apps.registry import selectors as registry
from apps.registry.picker import architectures_of, image_choices, image_groups
from apps.secrets.choosing import fold as secrets_fold
from apps.storage.choosing import mount_choices as choosing_rows
from apps.storage.copy_quote import with_copies
from apps.tenants import settings
from apps.workloads.fit.hints import hints_after
from apps.workloads.launching.form import new_key, problems_of
from apps.workloads.launching.quote import check_field, quote_context
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.offers.option_picker import also_context
from apps.workloads.offers.picker import PackageChoice, package_choices

USE = in_organisation(Permission.ENVIRONMENTS_USE)


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """What the form starts with: the image and package used last, or those of `?image=` and `?package=`."""
    actor = request.actor
    if request.method != "POST":
        return render(request, "envs/new.html", _page(actor, _form(actor, initial=_initial(actor, request))))
    form = _form(actor, request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            return redirect("envs:detail", creating.create(actor, form.as_request()).pk)
        except DomainError as error:
            show_error(form, error)
    return render(request, "envs/new.html", _page(actor, form), status=REFUSED)


def _form(actor: Actor, data: Any = None, initial: dict[str, Any] | None = None) -> NewForm:
    rules = settings.get(EnvironmentSettings)
    return NewForm(data, initial=initial or {}, rules=rules, cpu_packages=cpu_package_choices(actor))


def cpu_package_choices(actor: Actor) -> list[tuple[int, str]]:
    """Packages without a GPU, with what the organisation pays for them."""
    priced = [(row, row.price) for row in funds.packages(actor).filter(gpu_count=0) if row.price]
    language, own = get_language() or "", own_terms(actor)
    return [(row.pk, f"{row.name(language)} · {yuan_rate(own.rate(price.rate_fen_per_hour))}") for row, price in priced]


def _initial(actor: Actor, request: ActorRequest) -> dict[str, Any]:
    rules = settings.get(EnvironmentSettings)
    last = selectors.latest(actor)
    begin = initial_of(last) if last is not None else _first(actor, rules)
    begin |= {"name": _free_name(actor), "note": "", "key": new_key(), "without_gpu": False}
    begin["duration_days"] = NEVER if rules.unlimited else rules.duration_days
    for name in ("image", "package"):
        if name in request.GET:
            begin[name] = request.GET[name]
    return begin


def _first(actor: Actor, rules: EnvironmentSettings) -> dict[str, Any]:
    image, package = registry.images(actor).first(), funds.packages(actor).first()
    cpu = funds.packages(actor).filter(gpu_count=0).first()
    return {
        "image": image.pk if image else None,
        "package": package.pk if package else None,
        "cpu_package": cpu.pk if cpu else NEVER,
        "idle": rules.idle_minutes or NEVER,
        "snapshot_minutes": NEVER,
    }


def _free_name(actor: Actor) -> str:
    """A name to begin with: three clicks need no typing."""
    count = selectors.environments(actor).filter(owner_id=actor.user_id).count() if actor.user_id else 0
    return f"notebook-{count + 1}"


def _page(actor: Actor, form: NewForm) -> dict[str, Any]:
    packages = list(packages_on_offer(actor))
    archs = _archs(actor, form)
    choices, last = package_choices(actor, packages, archs=archs), selectors.latest(actor)
    return {
        "form": form,
        "packages": choices,
        "hints": hints_after(last.workload if last else None, packages),
        "package": str(form["package"].value() or ""),
        **also_context(actor, form, packages),
        "last": last,
        "errors": problems_of(form, ANCHORS),
        **choosing(actor, form),
        **_quote(actor, form, packages, archs, choices),
    }


def choosing(actor: Actor, form: SettingsForm) -> dict[str, Any]:
    """Images and what can be mounted, with what is chosen."""
    image, offered = str(form["image"].value() or ""), list(registry.images(actor, containers=True))
    return {
        "images": image_groups(image_choices(actor, offered), actor.user_id, image),
        "image": image,
        "mountable": choosing_rows(actor, form.chosen()),
        "secrets": secrets_fold(actor, form.chosen_secrets()),
    }


# Where a problem can be mended: the fields that have an element of their own on the page.
ANCHORS = {"image": "s-image", "package": "s-package", "mounts": "s-mounts"}


@requires(USE)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The quote card for the form as it stands, complete or not."""
    form = _form(request.actor, request.POST)
    with one_moment():
        packages = list(packages_on_offer(request.actor))
        context = _quote(request.actor, form, packages, _archs(request.actor, form)) | also_context(
            request.actor, form, packages
        )
        return render(request, "envs/parts/quote.html", context)


def _quote(
    actor: Actor,
    form: NewForm,
    packages: Sequence[Package],
    archs: tuple[str, ...],
    choices: Sequence[PackageChoice] | None = None,
) -> dict[str, Any]:
    """Of the package that the first start takes: the one without a GPU where that is asked for."""
    without = form["without_gpu"].value() and form["cpu_package"].value() not in (None, "", NEVER)
    field = "cpu_package" if without else "package"
    context = quote_context(actor, form, KIND, packages, choices, package=field, archs=archs)
    return {**context, "quote": with_copies(actor, context["quote"], form.chosen())}


def _archs(actor: Actor, form: NewForm) -> tuple[str, ...]:
    return architectures_of(registry.images(actor), form["image"].value())
