"""What drivers say in plain English, in the reader's language. Drivers know no translation: they import no Django.

Each pattern is one sentence that a driver composes; text that matches none is shown as it came.
"""

import re
from collections.abc import Callable

from django.utils.translation import gettext as _

from apps.common.formatting import memory

Sentence = tuple[re.Pattern[str], Callable[..., str]]


def translated(text: str) -> str:
    """Every sentence of `text` that is known, in the active language; numbers and names stay."""
    for pattern, words in _SENTENCES:
        found = pattern.search(text)
        if found is not None:
            text = f"{text[: found.start()]}{words(*found.groups())}{text[found.end() :]}"
    return text


def _sentence(pattern: str, words: Callable[..., str]) -> Sentence:
    return re.compile(pattern), words


_SENTENCES: tuple[Sentence, ...] = (
    _sentence(
        r"Waiting for another installation of (\S+)",
        lambda name: _("Waiting for another installation of %(name)s") % {"name": name},
    ),
    _sentence(
        r"Creating the Python environment of (\S+)",
        lambda name: _("Creating the Python environment of %(name)s") % {"name": name},
    ),
    _sentence(
        r"Downloading (\S+) \(([\d.]+ \w+)\)",
        lambda name, size: _("Downloading %(name)s (%(size)s)") % {"name": name, "size": size},
    ),
    _sentence(r"Installing (\d+) packages", lambda count: _("Installing %(count)s packages") % {"count": count}),
    _sentence(
        r"Downloading and building: (\S+)", lambda name: _("Downloading and building: %(name)s") % {"name": name}
    ),
    _sentence(
        r"Downloading and building (\S+)",
        lambda name: _("Downloading and building %(name)s; this takes some minutes") % {"name": name},
    ),
    _sentence(
        r"To build (.+), this machine lacks: ([\w +.-]+)",
        lambda name, packages: (
            _(
                "To build %(name)s, this machine lacks some of Debian's packages: %(packages)s. "
                "Its administrator can install them with apt-get install."
            )
            % {"name": name, "packages": packages}
        ),
    ),
    _sentence(r"Collecting (\S+)", lambda name: _("Looking for %(name)s") % {"name": name}),
    _sentence(
        r"bubblewrap, a user id per tenant\.",
        lambda: _("Isolated by bubblewrap, with a user id of its own for each organisation."),
    ),
    _sentence(r"bubblewrap, a user namespace\.", lambda: _("Isolated by bubblewrap in user namespaces.")),
    _sentence(r"bubblewrap \(bwrap\) is not installed\.", lambda: _("bubblewrap (bwrap) is not installed.")),
    _sentence(r"bubblewrap does not work here:", lambda: _("bubblewrap does not work here:")),
    _sentence(r"Isolation is switched off by the operator\.", lambda: _("Isolation is switched off by the operator.")),
    _sentence(
        r"Workloads run as the platform's own user and can read its files\.",
        lambda: _("Workloads run as the platform's own user and can read its files."),
    ),
    _sentence(r"Memory limited by control groups", lambda: _("Memory is limited by control groups")),
    _sentence(r"Memory limited by watching", lambda: _("Memory is limited by watching it")),
    _sentence(r", processor time limited", lambda: _(", processor time too.")),
    _sentence(r", processor time not limited", lambda: _("; processor time is not limited.")),
    _sentence(
        r"Too many terminals and commands are open in it: at most (\d+) at a time",
        lambda count: (
            _("Too many terminals and commands are open in it: at most %(count)s at a time.") % {"count": count}
        ),
    ),
    _sentence(
        r"Nothing on this machine holds a vGPU slice to its memory",
        lambda: _("Nothing on its machine limits the memory of a vGPU slice, so it was not given out."),
    ),
    _sentence(
        r"The card has a partition at memory slice (\d+) that the platform did not make: remove it with .+",
        lambda start: (
            _(
                "The card has a partition at memory slice %(start)s that the platform did not make. "
                "An administrator can remove it with nvidia-smi mig -dci and -dgi."
            )
            % {"start": start}
        ),
    ),
    _sentence(
        r"The card offers no partition (\S+) at memory slice (\d+)",
        lambda profile, start: (
            _("The card offers no partition %(profile)s at memory slice %(start)s.")
            % {"profile": profile, "start": start}
        ),
    ),
    _sentence(r"This card cannot be partitioned \(MIG\)\.", lambda: _("This card knows no MIG.")),
    _sentence(
        r"A process still uses the card, or it still has MIG instances\.",
        lambda: _("A process still uses the card, or there are partitions on it that the platform did not make."),
    ),
    _sentence(
        r"The card takes the mode with its next reset: reset it or restart the machine, then repeat\.",
        lambda: _("The card takes the mode with its next reset: reset it or restart the machine, then repeat."),
    ),
    _sentence(
        r"The platform may not (?:switch|cut) cards on this machine: it has to run as root\.",
        lambda: _("The platform may not switch or cut cards on that machine: it has to run as root there."),
    ),
    _sentence(r"There is no NVIDIA driver on this machine\.", lambda: _("There is no NVIDIA driver on that machine.")),
    _sentence(
        r"Its files in (\S+) take more than (\d+) MiB",
        lambda place, limit: (
            _("Its files in %(place)s take more than the %(limit)s that it may hold there.")
            % {"place": place, "limit": memory(int(limit))}
        ),
    ),
    _sentence(
        r"It wrote a file larger than (\d+) MiB",
        lambda limit: _("It wrote a file larger than the %(limit)s that it may hold.") % {"limit": memory(int(limit))},
    ),
    _sentence(
        r"It holds more than (\d+) files and folders",
        lambda count: _("It holds more than the %(count)s files and folders that it may.") % {"count": count},
    ),
    _sentence(
        r"Its folders are nested more than (\d+) deep",
        lambda count: _("Its folders are nested more than %(count)s deep.") % {"count": count},
    ),
    _sentence(
        r"The disk of its machine was full; this run was using most of it",
        lambda: _("The disk of its machine was full; this run was using most of it."),
    ),
    _sentence(
        r"The disk of its machine had no room for further files; this run held most of them",
        lambda: _("The disk of its machine had no room for further files; this run held most of them."),
    ),
    _sentence(r"The workload is not running", lambda: _("It is not running any more.")),
    _sentence(r"It did not end in time and was killed", lambda: _("It did not end in time and was killed.")),
)
