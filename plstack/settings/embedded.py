"""One machine, what `make run` uses: plain HTTP on loopback, or behind TLS where PLSTACK_ORIGINS says so."""

from plstack.settings import env, tls
from plstack.settings.base import *  # noqa: F403

# Trying it out on one's own machine stays a matter of minutes; what others can reach asks people of rank for more.
SECOND_FACTOR_BY_DEFAULT = not env.on_loopback()

if env.is_behind_tls():
    SECOND_FACTOR_BY_DEFAULT = True
    globals().update({name: value for name, value in vars(tls).items() if name.isupper()})
    SECURE_SSL_REDIRECT = not env.flag("PLSTACK_PLAIN_HTTP")
