"""Reaching into a running workload: the ports on which it serves, and commands run beside its program."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.workloads import machines, selectors
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Driver, DriverError, Handle
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream
from apps.workloads.models import Attempt, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.permissions import may_enter
from apps.workloads.spec import Port
from apps.workloads.words import sentence


class NotListening(Conflict):
    """It runs, but nothing listens on the port yet: asking again soon may help."""

    code = "not_listening"


def port_named(workload: Workload, name: str) -> Port:
    """A port that the workload declared, the first one for an empty name; `NotFound` for any other."""
    ports = workload.frozen_spec.ports
    found = next((port for port in ports if name in ("", port.name)), None)
    if found is None:
        raise NotFound
    return found


def endpoint(actor: Actor, workload: Workload, port_name: str = "") -> Endpoint:
    """Where a declared port of a running workload is reached now; not to be kept beyond a few seconds.

    Raises `NotFound` (not the actor's to enter, no such port), `Conflict` while it does not run, `NotListening` until
    its program serves there, `Unavailable` when its machine cannot be asked.
    """
    may_enter(actor, workload)
    return endpoint_of(workload, selectors.current_attempt(workload), port_name)


def endpoint_of(workload: Workload, attempt: Attempt | None, port_name: str = "") -> Endpoint:
    """`endpoint` for loops of the platform that have read the newest attempt: rows are not read here, so that many
    machines can be asked from threads at once.
    """
    port = port_named(workload, port_name)
    driver, handle = _running(workload, attempt)
    try:
        with machines.asked():
            return driver.endpoint(handle, port.number)
    except DriverError as error:
        raise NotListening(_("It runs, but its program is not ready to be opened yet.")) from error


def exec(
    actor: Actor,
    workload: Workload,
    argv: Sequence[str],
    tty: bool = False,
    env: Mapping[str, str] | None = None,
) -> ExecStream:
    """Run `argv` beside the workload's program, in its environment and with its rights; the caller closes the stream.

    Raises as `endpoint`; `Conflict` in the driver's words when it cannot be started there.
    """
    may_enter(actor, workload)
    driver, handle = _running(workload, selectors.current_attempt(workload))
    try:
        with machines.asked():
            return driver.exec(handle, argv, tty, env)
    except DriverError as error:
        raise Conflict(sentence(error.said)) from error


def _running(workload: Workload, attempt: Attempt | None) -> tuple[Driver, Handle]:
    if workload.status != Status.RUNNING or attempt is None or attempt.handle is None:
        raise Conflict(_state_text(workload), hint=_("Start it, and wait until it runs."))
    return driver_named(attempt.handle["driver"]), Handle.from_dict(attempt.handle)


def _state_text(workload: Workload) -> str:
    return str(_("It is not running now: %(status)s.") % {"status": Status(workload.status).label})
