"""ASGI entry: pages and API through Django, live data through Channels."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")

# Each request has a thread of its own here, so a connection that is kept for the next one is only ever forgotten: under
# a steady load they use up the server's slots.
settings.DATABASES["default"]["CONN_MAX_AGE"] = 0

django_application = get_asgi_application()

# These need the app registry that the line above filled. The Celery application becomes the current one: without it,
# the nudges that web processes send would look for a broker on localhost.
import plstack.celery  # noqa: E402, F401
from plstack.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
