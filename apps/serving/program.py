"""What a replica runs: the inference server on the image with a person's script, or a server of their own."""

import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.common.errors import Invalid
from apps.registry.picker import on_image
from apps.serving.choices import Runtime
from apps.serving.models import ServiceVersion
from apps.storage.publishing import publish
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import DataMount, Port, Spec
from apps.workloads.tools import tool

CODE = Path(__file__).resolve().parent / "inside"
INSIDE = "/opt/plstack-serving"
PLACE = "/workspace"
SCRIPTS, SCRIPT = f"{PLACE}/service", "service.py"
MODEL = "/model"
SCRIPT_PORT = 8080
READY = "/v2/health/ready"
PORT = "http"
LONGEST_ARGUMENT = 1000
# From 1.29 on ONNX Runtime tells its makers of each model that it loads, as soon as it is imported.
QUIET = {"ORT_DISABLE_TELEMETRY": "1"}


def spec_of(version: ServiceVersion, name: str, package: Package, mounts: tuple[DataMount, ...] = ()) -> Spec:
    """The kernel's spec of one replica of a service called `name` on `package`."""
    spec = replace(
        on_image(resources_of(package), version.image),
        argv=tuple(version.argv),
        mounts=mounts,
        workdir=PLACE,
        ports=(Port(PORT, version.port),),
        egress=True,
        env={**QUIET, **({"PLSTACK_MODEL": MODEL} if version.model_id else {})},
    )
    if version.runtime != Runtime.SCRIPT or version.code is None:
        return spec
    return replace(
        spec,
        argv=(
            *("python", f"{INSIDE}/serve.py", f"{SCRIPTS}/{SCRIPT}"),
            *(str(version.port), model_name(name), str(version.at_a_time)),
        ),
        mounts=(DataMount(_published().name, INSIDE), DataMount(version.code.relative_path, SCRIPTS), *mounts),
        tools=(tool("inference"),),
    )


def model_name(name: str) -> str:
    """What the Open Inference Protocol calls the model, in a path."""
    return name.replace(" ", "-")


def argv_of(command: str) -> tuple[str, ...]:
    """A command as a shell splits it, without its other meanings. Raises `Invalid` beside `command`."""
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        raise Invalid.field("command", _("A quotation mark is not closed.")) from None
    if not words:
        raise Invalid.field("command", _("Name the program to start, with its arguments."))
    if any(len(word) > LONGEST_ARGUMENT or "\0" in word for word in words):
        raise Invalid.field("command", _("An argument is too long."))
    return words


@cache
def _published() -> Path:
    """The inference server's files below the data root, where mounts come from; a folder for each version of them."""
    return publish(CODE, "serving")
