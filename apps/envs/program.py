"""What an environment runs: the supervisor on the image, the tools beside it, the home and the mounts."""

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from apps.billing.models import Package
from apps.envs.models import Environment
from apps.storage.disk import data_root
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import DataMount, Image, ImageKind, Port, Spec

HOME = "/home/user"
INSIDE = "/opt/plstack"
CODE = Path(__file__).resolve().parent / "inside"
TOOLS = Path(__file__).resolve().parent / "tools"

JUPYTER, VSCODE, TENSORBOARD, CONTROL = "jupyter", "vscode", "tensorboard", "control"
# The numbers that `inside/services.py` and `inside/supervise.py` listen on.
PORTS = (Port(JUPYTER, 8888), Port(VSCODE, 8889), Port(TENSORBOARD, 6006), Port(CONTROL, 8800))
CODE_SERVER = Image("code-server", ("code-server@4.139.1",), ImageKind.NODE)


def tools_of(environment: Environment) -> tuple[Image, ...]:
    """The runtimes beside the image's. VS Code's takes minutes to build, so only those who want it wait for it."""
    always = (Image("jupyterlab", pins("jupyterlab")), Image("tensorboard", pins("tensorboard")))
    return (*always, CODE_SERVER) if environment.vscode else always


@cache
def pins(name: str) -> tuple[str, ...]:
    """Exact requirements, as `uv pip compile --universal` resolved them from the names at the top of each file."""
    lines = (TOOLS / f"{name}.txt").read_text().splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def spec_of(environment: Environment, package: Package, mounts: tuple[DataMount, ...] = ()) -> Spec:
    """The kernel's spec of one start on `package`."""
    image = environment.image
    return replace(
        resources_of(package),
        image=Image(image.key, tuple(image.requirements)),
        argv=("python", f"{INSIDE}/supervise.py"),
        env=_variables(environment),
        mounts=(
            DataMount(environment.home.relative_path, HOME, False, environment.home.size_mib),
            DataMount(published().name, INSIDE, True),
            *mounts,
        ),
        workdir=HOME,
        ports=PORTS,
        tools=tools_of(environment),
        egress=True,
        cluster=str(environment.cluster_id) if environment.cluster_id else None,
        preemptible=environment.preemptible,
    )


def _variables(environment: Environment) -> Mapping[str, str]:
    services = (JUPYTER, VSCODE) if environment.vscode else (JUPYTER,)
    return {
        "HOME": HOME,
        "USER": "user",
        "SHELL": "/bin/bash",
        "PLSTACK_IMAGE_NAME": environment.image.name,
        "PLSTACK_SERVICES": ",".join(services),
        # Shells that are neither interactive nor of a login read no profile but these.
        "BASH_ENV": f"{INSIDE}/profile.sh",
        "ENV": f"{INSIDE}/profile.sh",
    }


@cache
def published() -> Path:
    """The supervisor's files below the data root, where mounts come from; a folder for each version of them."""
    files = sorted(path for path in CODE.rglob("*") if path.is_file() and path.suffix in {".py", ".sh", ".json"})
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(CODE)}\0".encode() + path.read_bytes() + b"\0")
    target = data_root() / f".environment-{digest.hexdigest()[:16]}"
    if not target.is_dir():
        _publish(files, target)
    return target


def _publish(files: list[Path], target: Path) -> None:
    """Whole or not at all: another process may do the same at this moment."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(mkdtemp(prefix=".environment-", dir=target.parent))
    for path in files:
        copy = made / path.relative_to(CODE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for folder in (made, *(each for each in made.rglob("*") if each.is_dir())):
        folder.chmod(0o755)
    try:
        os.rename(made, target)
    except OSError:  # somebody else was faster
        shutil.rmtree(made, ignore_errors=True)
