"""The settings tab: what the environment is, to be changed."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.billing import selectors as funds
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import selectors, showing
from apps.envs.forms import SettingsForm, initial_of
from apps.envs.models import Environment
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import changing
from apps.envs.views.create import ANCHORS, choosing, cpu_package_choices
from apps.tenants import settings
from apps.workloads.fit.hints import hints_after
from apps.workloads.launching.form import problems_of
from apps.workloads.launching.quote import check_field
from apps.workloads.models import Attempt
from apps.workloads.offers.option_picker import also_context
from apps.workloads.offers.picker import package_choices


def settings_context(request: ActorRequest, environment: Environment, attempt: Attempt | None = None) -> dict[str, Any]:
    if not showing.is_own(request.actor, environment):
        return {"form": None}
    return form_context(request.actor, settings_form(request.actor, environment), environment)


def settings_form(actor: Actor, environment: Environment, data: Any = None) -> SettingsForm:
    return SettingsForm(
        data,
        initial=initial_of(environment),
        rules=settings.get(EnvironmentSettings),
        cpu_packages=cpu_package_choices(actor),
    )


def form_context(actor: Actor, form: SettingsForm, environment: Environment) -> dict[str, Any]:
    offered = list(funds.packages(actor))
    return {
        "form": form,
        "packages": package_choices(actor, offered),
        "hints": hints_after(environment.workload, offered),
        **also_context(actor, form, offered),
        "package": str(form["package"].value() or ""),
        "errors": problems_of(form, ANCHORS),
        "restart_live": environment.workload is not None and environment.workload.is_live,
        **choosing(actor, form),
    }


@requires(in_organisation(Permission.ENVIRONMENTS_USE))
@require_POST
def change(request: ActorRequest, environment_id: UUID) -> HttpResponse:
    """Apply the form; `restart` says that what runs may be stopped and started again for it."""
    actor = request.actor
    environment = selectors.get(actor, environment_id)
    form = settings_form(actor, environment, request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            restarts = changing.change(actor, environment, form.as_change(), restart="restart" in request.POST)
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("Saved; it restarts now.") if restarts else _("Saved."))
            return redirect(f"{reverse('envs:detail', args=[environment.pk])}?tab=settings")
    context = {"env": environment, **form_context(actor, form, environment)}
    return render(request, "envs/change.html", context, status=REFUSED)
