"""Architectures of machines, by the kernel's names (`uname -m`); container images use Go's (GOARCH)."""

from collections.abc import Iterable

from django.db import models

X86_64, AARCH64 = "x86_64", "aarch64"
_OF_KERNEL = {"amd64": X86_64, "arm64": AARCH64}


class Architecture(models.TextChoices):
    """What an image may be said to be for; nodes report whatever their kernel says."""

    X86_64 = X86_64, "x86-64 (amd64)"
    AARCH64 = AARCH64, "ARM64 (aarch64)"


def kernel_name(name: str) -> str:
    """`aarch64` for `arm64`; a name that has no other one stays."""
    return _OF_KERNEL.get(name.lower(), name)


def kernel_names(names: Iterable[str]) -> list[str]:
    return sorted({kernel_name(name) for name in names})


def architecture_words(names: Iterable[str]) -> str:
    """`ARM64 (aarch64)`, as people read it; of several, with a slash between them."""
    known = dict(Architecture.choices)
    return " / ".join(str(known.get(name, name)) for name in names)
