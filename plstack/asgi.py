"""ASGI entry: pages and API through Django, live data through Channels."""

import logging
import os

import django
import structlog
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup(set_prefix=False)

# By default structlog prints two coloured lines per request, regardless of the loggers in the settings.
structlog.configure(
    processors=[structlog.contextvars.merge_contextvars, structlog.stdlib.render_to_log_kwargs],
    wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)

# These need the app registry that django.setup() filled. Importing plstack.celery makes its application the current
# one: without it, nudges from web processes would look for a broker on localhost.
import plstack.celery  # noqa: E402, F401
from apps.registry.distribution.proxy import RegistryProxy  # noqa: E402
from plstack.heartbeats import WithHeartbeat  # noqa: E402
from plstack.origins import OwnOriginOnly  # noqa: E402
from plstack.requests import RequestHandler, SocketHandler  # noqa: E402
from plstack.routing import websocket_urlpatterns  # noqa: E402
from plstack.unavailable import RetryLaterSockets  # noqa: E402

requests = RequestHandler()
application = WithHeartbeat(
    "web",
    ProtocolTypeRouter(
        {
            "http": RegistryProxy(requests, requests.threads),
            "websocket": RetryLaterSockets(
                OwnOriginOnly(SocketHandler(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))))
            ),
        }
    ),
    serves=requests.threads.serves,
)
