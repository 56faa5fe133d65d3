"""What an environment runs: the supervisor on the image, the tools beside it, the home and the mounts."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from apps.billing.models import Package
from apps.envs.models import Environment
from apps.notifications.composing import language_of
from apps.registry.picker import spec_image
from apps.secrets.references import SecretReference
from apps.storage.publishing import publish
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import DataMount, Image, ImageKind, Port, Spec
from apps.workloads.tools import tool

HOME = "/home/user"
INSIDE = "/opt/plstack"
CODE = Path(__file__).resolve().parent / "inside"

JUPYTER, VSCODE, TENSORBOARD, CONTROL = "jupyter", "vscode", "tensorboard", "control"
# The numbers that `inside/services.py` and `inside/supervise.py` listen on.
PORTS = (Port(JUPYTER, 8888), Port(VSCODE, 8889), Port(TENSORBOARD, 6006), Port(CONTROL, 8800))
CODE_SERVER = Image("code-server", ("code-server@4.139.1",), ImageKind.NODE)


# What an environment sets for itself.
OWN_VARIABLES = frozenset({"HOME", "USER", "SHELL", "BASH_ENV", "ENV"})


def tools_of(environment: Environment) -> tuple[Image, ...]:
    """The runtimes beside the image's. VS Code's takes minutes to build, so only those who want it wait for it."""
    always = (tool("jupyterlab"), tool("tensorboard"))
    return (*always, CODE_SERVER) if environment.vscode else always


def spec_of(
    environment: Environment,
    package: Package,
    mounts: tuple[DataMount, ...] = (),
    secrets: tuple[SecretReference, ...] = (),
) -> Spec:
    """The kernel's spec of one start on `package`."""
    image = environment.image
    return replace(
        resources_of(package),
        image=spec_image(image),
        archs=tuple(image.architectures),
        argv=(*python_of(environment), f"{INSIDE}/supervise.py"),
        env=_variables(environment, package),
        mounts=(
            DataMount(environment.home.relative_path, HOME, False, environment.home.size_mib),
            DataMount(published().name, INSIDE, True),
            *mounts,
        ),
        workdir=HOME,
        ports=PORTS,
        tools=tools_of(environment),
        egress=True,
        secrets=secrets,
    )


def python_of(environment: Environment) -> tuple[str, ...]:
    """The command of the Python on which the platform's own programs run inside: a container image may have none."""
    return (MACHINE_PYTHON, "-E", "-s", "-S") if environment.image.reference else ("python",)


def _variables(environment: Environment, package: Package) -> Mapping[str, str]:
    services = (JUPYTER, VSCODE) if environment.vscode else (JUPYTER,)
    container = {"PLSTACK_CONTAINER_IMAGE": "1"} if environment.image.reference else {}
    return {
        **container,
        "HOME": HOME,
        "USER": "user",
        "SHELL": "/bin/bash",
        "PLSTACK_IMAGE_NAME": environment.image.name,
        "PLSTACK_SERVICES": ",".join(services),
        # What Jupyter speaks at first and says of the limits: `free` and `df` inside show those of the whole machine.
        "PLSTACK_USER_LANGUAGE": language_of(environment.owner),
        "PLSTACK_MEMORY_MIB": str(package.memory_mib),
        "PLSTACK_CPU_MILLI": str(package.cpu_milli),
        # Shells that are neither interactive nor of a login read no profile but these.
        "BASH_ENV": f"{INSIDE}/profile.sh",
        "ENV": f"{INSIDE}/profile.sh",
    }


@cache
def published() -> Path:
    """The supervisor's files below the data root, where mounts come from; a folder for each version of them."""
    return publish(CODE, "environment")
