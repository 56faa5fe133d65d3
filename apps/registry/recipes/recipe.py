"""One recipe, and what is made of it."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from apps.clusters.architectures import architecture_words

PYTHON_BASE = "python:3.11-slim-trixie"
DEBIAN_BASE = "debian:trixie-slim"
UBUNTU_BASE = "ubuntu:24.04"
APT_LINE = "RUN apt-get update && apt-get install -y --no-install-recommends {names} && rm -rf /var/lib/apt/lists/*"


class Group(StrEnum):
    """What an image is for; in the order of pickers and lists."""

    BASIC = "basic"
    DEEP = "deep"
    LANGUAGE = "language"
    CLASSIC = "classic"
    DATA = "data"
    VISION = "vision"
    AGENTS = "agents"
    SCIENCE = "science"
    APPS = "apps"


GROUP_WORDS: dict[str, Promise | str] = {
    Group.BASIC: pgettext_lazy("images", "Basics"),
    Group.DEEP: _("Deep learning"),
    Group.LANGUAGE: _("Language models and text"),
    Group.CLASSIC: _("Classical machine learning"),
    Group.DATA: _("Data and distributed computing"),
    Group.VISION: _("Vision, sound and inference"),
    Group.AGENTS: _("Reinforcement learning"),
    Group.SCIENCE: _("Science and other languages"),
    Group.APPS: _("Demos and web apps"),
}


class Cards(StrEnum):
    """On what it computes. Each works without a card, too, slower."""

    NONE = ""
    NVIDIA = "nvidia"


@dataclass(frozen=True, slots=True)
class Recipe:
    """An image of the platform. `requirements`: exact pins for pip; `apt`: packages of the base's distribution.

    `slim_apt`: libraries that machines have and slim images lack, so that they do not keep it from being a runtime.

    `architectures`: of machines (`clusters.architectures`), empty for both. `download_mb`: what pip downloads for
    x86-64, in 10^6 bytes; 0 where only a build would tell. `index_url`: where pip downloads from, if not from its
    usual place. `common`: stands in the first group of pickers.
    """

    key: str
    name: str
    group: Group
    description_en: str
    description_zh: str
    sort: int
    requirements: tuple[str, ...] = ()
    download_mb: int = 0
    cards: Cards = Cards.NONE
    architectures: tuple[str, ...] = ()
    common: bool = False
    base: str = PYTHON_BASE
    apt: tuple[str, ...] = ()
    slim_apt: tuple[str, ...] = ()
    index_url: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def is_runtime(self) -> bool:
        """Whether pip alone installs it, into a virtual environment of a machine."""
        return self.base == PYTHON_BASE and not (self.apt or self.index_url)

    @property
    def description(self) -> str:
        return self.description_zh if (get_language() or "").startswith("zh") else self.description_en

    @property
    def group_words(self) -> Promise | str:
        return GROUP_WORDS[self.group]

    @property
    def architecture_words(self) -> str:
        """What it is for, in words; empty for any."""
        return architecture_words(self.architectures)

    @property
    def download_bytes(self) -> int:
        return self.download_mb * 1_000_000

    def containerfile(self, base: str = "") -> str:
        """The same as a container image. `base`: what FROM names instead of the recipe's own."""
        lines = [f"FROM {base or self.base}"]
        lines += [f"ENV {name}={value}" for name, value in self.env]
        if packages := (*self.apt, *self.slim_apt):
            lines.append(apt_line(packages))
        if self.requirements:
            lines.append(pip_lines(self.requirements, self.index_url))
        return "\n".join(lines) + "\n"


def apt_line(names: Iterable[str]) -> str:
    return APT_LINE.format(names=" ".join(names))


def pip_lines(requirements: Iterable[str], index_url: str = "") -> str:
    """One a line, so that a change of one pin is a change of one line."""
    index = f" --index-url {shlex.quote(index_url)}" if index_url else ""
    start = f"RUN python3 -m pip install --no-cache-dir{index}"
    return " \\\n    ".join((start, *map(shlex.quote, requirements)))


def containerfile_of(requirements: Iterable[str], base: str = PYTHON_BASE) -> str:
    """Of a runtime that is no recipe: one's own, or one that administrators have changed."""
    pins = tuple(requirements)
    return f"FROM {base}\n{pip_lines(pins)}\n" if pins else f"FROM {base}\n"
