"""The services inside a running environment that are started when asked for: TensorBoard and VS Code."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Invalid, Unavailable
from apps.envs import program
from apps.envs.control import Unreachable, request_json
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.services.running import live_workload
from apps.envs.services.shared import log
from apps.storage.safe_open import open_folder, split_path
from apps.storage.services import root_of
from apps.workloads import reach


def running(actor: Actor, environment: Environment) -> dict[str, Any]:
    """The services that run inside; empty if it cannot be reached."""
    try:
        return _ask(actor, environment, "GET", "")
    except (Conflict, Unavailable):
        return {}


def start_tensorboard(actor: Actor, environment: Environment, *, folder: str) -> None:
    """Show the logs below `folder`, a path in the home. Raises `Invalid`, `Conflict`, `Unavailable`."""
    require_own(actor, environment)
    path = "/".join(split_path(folder.strip().removeprefix(program.HOME).strip("/")))
    try:
        _ask(actor, environment, "POST", program.TENSORBOARD, {"folder": path})
    except Invalid as error:
        if _has_folder(environment, path):
            raise
        words = _("There is no folder %(folder)s in its home. Make it, or wait until something is written there.")
        raise Invalid.field("folder", words % {"folder": path or "/"}) from error
    log(actor, environment, "tensorboard_started", after={"folder": path})


def _has_folder(environment: Environment, path: str) -> bool:
    try:
        with open_folder(root_of(environment.home), path):
            return True
    except (DomainError, OSError):
        return False


def stop(actor: Actor, environment: Environment, service: str) -> None:
    """End TensorBoard or VS Code; JupyterLab goes with the environment."""
    require_own(actor, environment)
    if service not in (program.TENSORBOARD, program.VSCODE):
        raise Invalid.field("service", _("Only TensorBoard and VS Code can be ended alone."))
    _ask(actor, environment, "DELETE", service)


def _ask(
    actor: Actor, environment: Environment, method: str, service: str, content: dict[str, Any] | None = None
) -> dict[str, Any]:
    endpoint = reach.endpoint(actor, live_workload(environment), program.CONTROL)
    try:
        status, answer = request_json(endpoint, method, f"/{service}", content)
    except Unreachable as error:
        raise Unavailable(
            _("The environment does not answer yet."), hint=_("It may still be starting; try again in a moment.")
        ) from error
    if status != 200 or not isinstance(answer, dict):
        raise Invalid.field("folder", _("It could not be started: check the folder."))
    return answer
