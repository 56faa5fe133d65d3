"""One machine, plain HTTP on loopback: what `make run` uses."""

from plstack.settings import env
from plstack.settings.base import *  # noqa: F403

# Trying it out on one's own machine stays a matter of minutes; what others can reach asks people of rank for more.
SECOND_FACTOR_BY_DEFAULT = not env.on_loopback()
