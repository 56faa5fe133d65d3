"""The test suites: real Postgres and Redis, fast password hashing, mail in memory."""

from plstack.settings import env
from plstack.settings.base import *  # noqa: F403

# The owner creates the test database; tests/conftest.py then continues as the limited role that production uses.
DATABASES = {"default": env.database("DATABASE_OWNER_URL")}
DATABASES["default"]["TEST"] = {"NAME": env.value("TEST_DB", "test_plstack")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
ALLOWED_HOSTS = ["*"]
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None}
API_REQUESTS_PER_MINUTE = dict.fromkeys(API_REQUESTS_PER_MINUTE, 1_000_000)  # noqa: F405
# No suite collects static files.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}  # noqa: F405
