"""One machine, plain HTTP on loopback: what `make run` uses."""

from plstack.settings.base import *  # noqa: F403
