"""What an environment needs of a container image, as a Containerfile that adds what is missing; people may change it.

JupyterLab, TensorBoard, SSH and terminals are the platform's own and come beside any image. Notebooks run on the
image's Python: that has to be 3.7 or newer, make virtual environments, and have ipykernel. Each line looks first, so
that an image that lacks nothing is left as it is, and the build says so.
"""

import re

from apps.registry.models import Image

LONGEST_NAME = 40
TEMPLATE = """FROM {reference}
# Notebooks need Python with venv and pip. Debian and Ubuntu have them in packages; other images bring their own.
RUN python3 -c 'import venv, ensurepip, pip' || \\
    {{ apt-get update && apt-get install -y --no-install-recommends python3 python3-venv python3-pip && \\
      rm -rf /var/lib/apt/lists/*; }}
# Notebooks talk to Python through ipykernel. JupyterLab itself comes with each environment.
RUN python3 -c 'import ipykernel' || python3 -m pip install ipykernel
# Terminals start bash.
RUN command -v bash || {{ apt-get update && apt-get install -y bash && rm -rf /var/lib/apt/lists/*; }}
"""


def containerfile(image: Image) -> str:
    return TEMPLATE.format(reference=image.reference)


def name_for(image: Image, ending: str = "env") -> str:
    """Of what is made of the image, after it."""
    stem = re.sub(r"[^\w.\-]+", "-", image.name).strip("-._") or "image"
    return f"{stem[:LONGEST_NAME]}-{ending}"
