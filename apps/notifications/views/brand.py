"""The pictures of the brand: for everyone, also before signing in."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.common.access import PUBLIC, requires
from apps.notifications import pictures


@requires(PUBLIC)
@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponse:
    """Named by the hash of its content: what is under a name never changes."""
    content, media_type = pictures.read_picture(name)
    response = HttpResponse(content, content_type=media_type)
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
