"""A server behind TLS. The proxy in front sets X-Forwarded-Proto and nobody else can."""

from plstack.settings import env
from plstack.settings.base import *  # noqa: F403

SECURE_SSL_REDIRECT = not env.flag("PLSTACK_PLAIN_HTTP")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SECOND_FACTOR_BY_DEFAULT = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
