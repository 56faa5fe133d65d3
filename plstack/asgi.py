"""ASGI entry: pages and API through Django, live data through Channels."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")

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
