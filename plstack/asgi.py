"""ASGI entry: pages and API through Django, live data through Channels."""

import logging
import os

import django
import structlog
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")
django.setup(set_prefix=False)

# Unless it is told otherwise, it prints two coloured lines about each request, whatever the settings say of loggers.
structlog.configure(
    processors=[structlog.contextvars.merge_contextvars, structlog.stdlib.render_to_log_kwargs],
    wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)

# These need the app registry that the line above filled. The Celery application becomes the current one: without it,
# the nudges that web processes send would look for a broker on localhost.
import plstack.celery  # noqa: E402, F401
from plstack.heartbeats import Beating  # noqa: E402
from plstack.origins import OwnOriginOnly  # noqa: E402
from plstack.requests import RequestHandler, SocketHandler  # noqa: E402
from plstack.routing import websocket_urlpatterns  # noqa: E402
from plstack.unavailable import Sockets  # noqa: E402

requests = RequestHandler()
application = Beating(
    "web",
    ProtocolTypeRouter(
        {
            "http": requests,
            "websocket": Sockets(OwnOriginOnly(SocketHandler(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))))),
        }
    ),
    serves=requests.threads.serves,
)
