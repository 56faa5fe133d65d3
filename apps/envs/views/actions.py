"""What one can do with an environment: each asks first where something is lost or costs, then does it."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid, NotFound
from apps.common.formatting import moment
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import program, selectors
from apps.envs.forms import RenewForm, ShutdownForm
from apps.envs.models import Environment, Snapshot
from apps.envs.policy import EnvironmentSettings
from apps.envs.services import changing, expiry, images, recycle_bin, running, shutdown, snapshots, switching, tools
from apps.envs.views import questions
from apps.tenants import settings
from apps.workloads.offers.switching import package_number

USE = in_organisation(Permission.ENVIRONMENTS_USE)


@requires(USE)
@require_GET
def ask(request: ActorRequest, environment_id: UUID, name: str) -> HttpResponse:
    """The question before an action, for the page's dialog."""
    environment = selectors.get(request.actor, environment_id)
    question = questions.QUESTIONS.get(name)
    if question is None:
        raise Http404
    context = question(request.actor, environment, request.GET)
    return render(request, context.pop("template", "components/confirm_body.html"), context)


@requires(USE)
@require_POST
def act(request: ActorRequest, environment_id: UUID, name: str) -> HttpResponse:
    """Do it and go back to the page, with what happened, or why not, in words."""
    actor = request.actor
    environment = selectors.get(actor, environment_id)
    action = _ACTIONS.get(name)
    if action is None:
        raise Http404
    try:
        messages.success(request, action(actor, environment, request))
    except DomainError as error:
        say_refusal(request, error)
    if name in ("delete", "purge"):
        return redirect("envs:list")
    return redirect(_back(request, environment))


def _back(request: ActorRequest, environment: Environment) -> str:
    if request.POST.get("from") == "list":
        return reverse("envs:list")
    tab = request.POST.get("tab", "")
    page = reverse("envs:detail", args=[environment.pk])
    return f"{page}?tab={tab}" if tab.isalpha() else page


def _start(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    running.start(actor, environment)
    return _("%(name)s is started.") % {"name": environment.name}


def _stop(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    snapshot = "snapshot" in request.POST
    running.stop(actor, environment, snapshot=snapshot)
    return _("Its files are saved, then it stops.") if snapshot else _("Asked to stop; it ends within seconds.")


def _keep(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    running.keep(actor, environment)
    return _("%(name)s is not released within the next hour.") % {"name": environment.name}


def _snapshot(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    snapshots.take(actor, environment, note=request.POST.get("note", ""))
    return _("The files are being saved.")


def _rollback(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    chosen = request.POST.get("snapshot", "")
    snapshot = _snapshot_named(environment, chosen) if chosen else None
    snapshots.restore(actor, environment, snapshot)
    return _("The files are being restored; as they are now, they are saved first.")


def _snapshot_named(environment: Environment, text: str) -> Snapshot:
    try:
        return snapshots.get(environment, UUID(text))
    except ValueError as error:
        raise NotFound from error


def _drop(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    snapshots.drop(actor, _snapshot_named(environment, request.POST.get("snapshot", "")))
    return _("The snapshot is gone.")


def _renew(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    form = RenewForm(request.POST, rules=settings.get(EnvironmentSettings))
    if not form.is_valid():
        raise Invalid.field("duration_days", _("Choose one of the durations."))
    end = expiry.renew(actor, environment, days=form.cleaned_data["duration_days"])
    return _("Renewed.") if end else _("It has no end now.")


def _shutdown(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    form = ShutdownForm(request.POST)
    if not form.is_valid():
        name, texts = next(iter(form.errors.items()))
        raise Invalid.field(name, str(texts[0]))
    at = shutdown.set_shutdown(actor, environment, form.shutdown())
    return _("It is saved and stopped at %(time)s.") % {"time": moment(at)}


def _cancel_shutdown(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    shutdown.set_shutdown(actor, environment, None)
    return _("It is not stopped at a set time any more.")


def _detach(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    chosen = request.POST.get("cpu_package", "")
    package = int(chosen) if chosen.isdigit() else None
    changing.set_gpu(actor, environment, attached=False, restart=True, package_id=package)
    return _("It goes on without the GPU.")


def _attach(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    changing.set_gpu(actor, environment, attached=True, restart=True)
    return _("The GPU is attached.")


def _delete(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    recycle_bin.delete(actor, environment)
    return _("%(name)s is in the recycle bin.") % {"name": environment.name}


def _restore(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    recycle_bin.restore(actor, environment)
    return _("%(name)s is back, stopped, with all its files.") % {"name": environment.name}


def _purge(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    recycle_bin.purge(actor, environment)
    return _("%(name)s is gone for good.") % {"name": environment.name}


def _tensorboard(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    tools.start_tensorboard(actor, environment, folder=request.POST.get("folder", ""))
    return _("TensorBoard is starting; open it in a few seconds.")


def _untensorboard(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    tools.stop(actor, environment, program.TENSORBOARD)
    return _("TensorBoard has ended.")


def _instead(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    switching.start_instead(actor, environment, package_id=package_number(request.POST.get("package", "")))
    return _("It goes on with the other package.")


def _image(actor: Actor, environment: Environment, request: ActorRequest) -> str:
    image = images.save(actor, environment, name=request.POST.get("name", ""), shared="shared" in request.POST)
    return _("Saved as image %(name)s; it can be chosen from now on.") % {"name": image.name}


_ACTIONS: dict[str, Callable[[Actor, Environment, ActorRequest], str]] = {
    "start": _start,
    "stop": _stop,
    "keep": _keep,
    "snapshot": _snapshot,
    "rollback": _rollback,
    "drop-snapshot": _drop,
    "renew": _renew,
    "shutdown": _shutdown,
    "cancel-shutdown": _cancel_shutdown,
    "detach": _detach,
    "attach": _attach,
    "delete": _delete,
    "restore": _restore,
    "purge": _purge,
    "tensorboard": _tensorboard,
    "stop-tensorboard": _untensorboard,
    "image": _image,
    "instead": _instead,
}
