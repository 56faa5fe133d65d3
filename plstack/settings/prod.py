"""A server behind TLS."""

from plstack.settings import env
from plstack.settings.base import *  # noqa: F403
from plstack.settings.tls import *  # noqa: F403

SECURE_SSL_REDIRECT = not env.flag("PLSTACK_PLAIN_HTTP")
SECOND_FACTOR_BY_DEFAULT = True
