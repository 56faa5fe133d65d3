"""Reaching into a running workload: the ports on which it serves, and commands run beside its program."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.workloads import machines, selectors, software_sources
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Driver, DriverError, Handle, Progress
from apps.workloads.drivers.capabilities import KeptImagesMixin, PushingMixin, SavingMixin
from apps.workloads.drivers.images import Destination, Making
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream
from apps.workloads.models import Attempt, Workload
from apps.workloads.nodes import driver_named, drivers
from apps.workloads.permissions import may_enter, may_open_port, may_use_terminal
from apps.workloads.references import Reference
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
    port = port_named(workload, port_name)
    may_open_port(actor, workload, port.name)
    if port.rank:
        return _endpoint(*_running_program(workload, port.rank), port)
    return endpoint_of(workload, selectors.current_attempt(workload), port.name)


def endpoint_of(workload: Workload, attempt: Attempt | None, port_name: str = "") -> Endpoint:
    """`endpoint` for loops of the platform that have read the newest attempt: rows are not read here, so that many
    machines can be asked from threads at once.
    """
    port = port_named(workload, port_name)
    return _endpoint(*_running(workload, attempt), port)


def _endpoint(driver: Driver, handle: Handle, port: Port) -> Endpoint:
    try:
        with machines.reaching_machine():
            return driver.endpoint(handle, port.number)
    except DriverError as error:
        raise NotListening(_("It runs, but its program is not ready to be opened yet.")) from error


def exec(
    actor: Actor,
    workload: Workload,
    argv: Sequence[str],
    tty: bool = False,
    env: Mapping[str, str] | None = None,
    *,
    rank: int = 0,
) -> ExecStream:
    """Run `argv` beside the program of this rank, in its environment and with its rights; the caller closes the stream.

    Raises `NotFound` for anybody but the owner and for a rank that there is not, `Unavailable` when its machine cannot
    be asked, `Conflict` while it does not run and, in the driver's words, when it cannot be started there.
    """
    may_use_terminal(actor, workload)
    driver, handle = _running_program(workload, rank)
    try:
        with machines.reaching_machine():
            return driver.exec(handle, argv, tty, env)
    except DriverError as error:
        raise Conflict(sentence(error.said)) from error


def save_image(actor: Actor, workload: Workload) -> Reference:
    """A running workload as a container image: the one that it runs in, with what was changed there. Takes seconds.

    Raises as `endpoint`; `Conflict` in the driver's words where there is nothing to save or it cannot be saved.
    """
    may_enter(actor, workload)
    try:
        return save_image_of(workload)
    except DriverError as error:
        raise Conflict(sentence(error.said)) from error


def save_image_of(workload: Workload, making: Making | None = None) -> Reference:
    """`save_image` for loops of the platform, with `DriverError` as it came. `making`: what it says of itself."""
    driver, handle = _running(workload, selectors.current_attempt(workload))
    if not isinstance(driver, SavingMixin):
        raise Conflict(_("Its machine cannot save what runs as an image."))
    with machines.reaching_machine():
        return driver.save_image(handle, making)


def push_image_of(attempt: Attempt, image: Reference, to: Destination) -> Progress | None:
    """Send what an attempt was saved as to a registry: None once it is there; asked again until then.

    The attempt may have ended since. Raises `Conflict`, `Unavailable`, `DriverError` where it failed.
    """
    driver, handle = _pushing(attempt)
    with machines.reaching_machine():
        return driver.push_image(handle, image, to)


def withdraw_image_of(attempt: Attempt, image: Reference, to: Destination) -> bool:
    """Send no more of it: True once nothing is being sent. Raises as `push_image_of`."""
    driver, handle = _pushing(attempt)
    with machines.reaching_machine():
        return driver.withdraw_image(handle, image, to)


def saved_manifest_of(attempt: Attempt, image: Reference) -> bytes:
    """The manifest of an image that the attempt was saved as. Raises `Unavailable`, `Conflict`, `DriverError`."""
    driver, _handle = _machine_of(attempt)
    if not isinstance(driver, KeptImagesMixin):
        raise Conflict(_("Its machine cannot save what runs as an image."))
    with machines.reaching_machine():
        return driver.saved_manifest(image)


def _pushing(attempt: Attempt) -> tuple[PushingMixin, Handle]:
    driver, handle = _machine_of(attempt)
    if not isinstance(driver, PushingMixin):
        raise Conflict(_("Its machine cannot send images to a registry."))
    return driver, handle


def _machine_of(attempt: Attempt) -> tuple[Driver, Handle]:
    """Also of an attempt that has ended."""
    if attempt.handle is None:
        raise Conflict(_state_text(attempt.workload))
    return driver_named(attempt.handle["driver"]), Handle.from_dict(attempt.handle)


def push_kept_image(image: Reference, to: Destination) -> Progress | None:
    """As `push_image_of`, for an image whose run may be long gone. Raises as it does."""
    machine = machine_that_keeps(image)
    with machines.reaching_machine():
        return machine.push_kept(image, to, settings.IMAGE_PULL_RULES, software_sources.chosen())


def withdraw_kept_image(image: Reference, to: Destination) -> bool:
    """As `withdraw_image_of`."""
    machine = machine_that_keeps(image)
    with machines.reaching_machine():
        return machine.withdraw_kept(image, to)


def kept_manifest(image: Reference) -> bytes:
    """As `saved_manifest_of`."""
    machine = machine_that_keeps(image)
    with machines.reaching_machine():
        return machine.saved_manifest(image)


def machine_that_keeps(image: Reference) -> KeptImagesMixin:
    """Raises `Conflict` where none does, `Unavailable`."""
    for machine in machines_that_keep_images():
        with machines.reaching_machine():
            if image.digest in machine.saved_images(0):
                return machine
    raise Conflict(_("No machine keeps the files of this image any more."))


def machines_that_keep_images() -> list[KeptImagesMixin]:
    """Drivers of machines that keep what runs there were saved as."""
    return [driver for driver in drivers().values() if isinstance(driver, KeptImagesMixin)]


def can_save_image(workload: Workload) -> bool:
    """Whether its machine is one that saves what runs there. Raises `Conflict` while it does not run."""
    driver, _handle = _running(workload, selectors.current_attempt(workload))
    return isinstance(driver, SavingMixin)


def _running(workload: Workload, attempt: Attempt | None) -> tuple[Driver, Handle]:
    if workload.status != Status.RUNNING or attempt is None or attempt.handle is None:
        raise Conflict(_state_text(workload), hint=_("Start it, and wait until it runs."))
    return driver_named(attempt.handle["driver"]), Handle.from_dict(attempt.handle)


def _running_program(workload: Workload, rank: int) -> tuple[Driver, Handle]:
    attempt = selectors.current_attempt(workload)
    driver, _handle = _running(workload, attempt)
    program = selectors.program(attempt, rank)
    if program is None or program.handle is None or program.ended_at is not None:
        raise Conflict(_("The member of rank %(rank)s is not running now.") % {"rank": rank})
    return driver, Handle.from_dict(program.handle)


def still_runs(workload: Workload, rank: int) -> bool:
    """Whether the program of this rank runs, as its driver sees it now. Raises `Unavailable`."""
    try:
        driver, handle = _running_program(workload, rank)
    except (Conflict, NotFound):
        return False
    with machines.reaching_machine():
        return not driver.observe(handle).phase.is_final


def _state_text(workload: Workload) -> str:
    return str(_("It is not running now: %(status)s.") % {"status": Status(workload.status).label})
