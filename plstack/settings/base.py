"""Settings shared by every installation. Secrets and addresses come from the environment (`env.py`)."""

from dataclasses import replace
from pathlib import Path

from plstack.settings import env
from plstack.settings.enums import ENUM_NAMES
from plstack.settings.installed import *  # noqa: F403
from plstack.settings.languages import *  # noqa: F403
from plstack.settings.limits import *  # noqa: F403
from plstack.settings.mail import *  # noqa: F403
from plstack.settings.nodes import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parent.parent.parent
PLSTACK_HOME = env.home(BASE_DIR)
PLSTACK_PORT = env.port()
PLSTACK_INSTANCE = env.instance()

SECRET_KEY = env.secret_key(PLSTACK_HOME)
# Empty: from the file that `apps.common.sealing` keeps under PLSTACK_HOME.
SEALING_KEYS = env.names("PLSTACK_SEALING_KEYS", "")
DEBUG = False
ALLOWED_HOSTS = [*env.names("PLSTACK_HOSTS", "localhost,127.0.0.1,[::1]"), TRACKING_HOST]  # noqa: F405
CSRF_TRUSTED_ORIGINS = env.names("PLSTACK_ORIGINS", "")

MIDDLEWARE = [
    "apps.common.compression.Compressed",
    "apps.common.problems.ApiProblems",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.common.middleware.SecurityHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "apps.common.middleware.PreferredLanguage",
    "django.middleware.locale.LocaleMiddleware",
    "apps.common.middleware.PlainInput",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "apps.tenants.settings.RememberSettings",
    "apps.notifications.standing_language.StandingLanguage",
    "apps.tenants.middleware.ActorMiddleware",
    "apps.tenants.middleware.SessionSeen",
    "apps.tenants.middleware.LanguageSeen",
    "apps.tenants.middleware.TriesLimited",
    "apps.common.middleware.DomainErrors",
    "apps.common.middleware.PageAbove",
]

ROOT_URLCONF = "plstack.urls"
ASGI_APPLICATION = "plstack.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "apps.common.folding.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.common.context.appearance",
                "apps.notifications.context.brand",
                "apps.console.context.shell",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.static"],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

DATABASES = {"default": env.database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Sessions and throttles live in Postgres: flushing Redis logs nobody out and lifts no limit.
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_NAME = "plstack_session"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "plstack_csrf"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "plstack_cache"}}

REDIS_URL = env.redis_url()
CELERY_BROKER_URL = env.celery_broker(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for as long as Redis is away
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "global_keyprefix": "plstack:",
    # A nudge into a Redis that is down gives up at once instead of after six seconds.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.05,
    "interval_max": 0.1,
}
# A web request must not hang on a broker that is down: the sweep finds what a lost nudge would have said.
CELERY_TASK_PUBLISH_RETRY = False

# Services that people run have an origin of their own, below this domain and never on the portal's.
PLSTACK_SSH_PORT = env.ssh_port(PLSTACK_PORT)
GATEWAY_PORT = env.gateway_port(PLSTACK_PORT)
GATEWAY_ORIGIN = env.gateway_origin(GATEWAY_PORT)
PORTAL_ORIGIN = next(iter(CSRF_TRUSTED_ORIGINS), f"http://localhost:{PLSTACK_PORT}")
# The registry of container images: one that runs elsewhere, or the one beside the platform, behind its own address.
REGISTRY_URL = env.value("PLSTACK_REGISTRY_URL", "").rstrip("/")
REGISTRY_SOCKET = "" if REGISTRY_URL else env.value("PLSTACK_REGISTRY_SOCKET", "")
if REGISTRY_SOCKET:  # it tells of what was pushed at the address at which the site listens
    ALLOWED_HOSTS = [*ALLOWED_HOSTS, env.listening_host()]
REGISTRY_HOST = (REGISTRY_URL or PORTAL_ORIGIN).partition("://")[2]
if not (REGISTRY_URL or PORTAL_ORIGIN).startswith("https://"):
    IMAGE_PULL_RULES = replace(IMAGE_PULL_RULES, plain_http=(*IMAGE_PULL_RULES.plain_http, REGISTRY_HOST))  # noqa: F405
# Where programs in workloads may connect: off, public, or a list of hosts; besides, what the operator lets through.
# Where the gateway reaches the web process for programs that log metrics; they name it TRACKING_HOST.
TRACKING_TARGET = env.value("PLSTACK_TRACKING_TARGET", f"127.0.0.1:{PLSTACK_PORT}")
EGRESS = env.value("PLSTACK_EGRESS", "public")
EGRESS_ALLOW = env.names("PLSTACK_EGRESS_ALLOW", "")

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "guardian.backends.ObjectPermissionBackend",
]
# User names are unique without regard to case, by a constraint that Django's check does not recognise.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]
GUARDIAN_MONKEY_PATCH_USER = False
ANONYMOUS_USER_NAME = None
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_CONFIRM_EMAIL_ON_GET = False  # a mail scanner that follows the link must not confirm
ACCOUNT_ADAPTER = "apps.tenants.adapter.AccountAdapter"
ACCOUNT_SESSION_REMEMBER = None
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_REAUTHENTICATION_REQUIRED = False
# Passwords and codes are limited by apps.tenants.sign_in_limits: a limit by address would lock an office out.
ACCOUNT_RATE_LIMITS: dict[str, str | None] = {
    "login": None,
    "login_failed": None,
    "reset_password": "60/m/ip,5/15m/key",
    "reset_password_from_key": "60/m/ip",
    "change_password": "5/m/user",
    "confirm_email": "3/10m/key",
}
MFA_ADAPTER = "apps.tenants.mfa.MFAAdapter"
MFA_FORMS = {"authenticate": "apps.tenants.mfa.SignInCodeForm", "reauthenticate": "apps.tenants.mfa.ConfirmCodeForm"}
MFA_TOTP_ISSUER = "PLStack"
MFA_TOTP_TOLERANCE = 1  # telephones' clocks are off; a code works once all the same
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_RECOVERY_CODE_DIGITS = 10
# A lost second factor is reset by an administrator, not by mail: whether the address is proven does not matter.
MFA_ALLOW_UNVERIFIED_EMAIL = True
SOCIALACCOUNT_ADAPTER = "apps.tenants.social.adapter.SocialAdapter"
SOCIALACCOUNT_EMAIL_REQUIRED = False  # WeChat tells none; the person adds one when it is needed
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10
# Whether people of rank need a second factor where the console's settings leave it open.
SECOND_FACTOR_BY_DEFAULT = False
EMAIL_FILE_PATH = PLSTACK_HOME / "mail"
# Receivers of webhooks that may be reached although they are not on the open internet: hosts, host:port or networks.
WEBHOOK_ALLOW = env.names("PLSTACK_WEBHOOK_ALLOW", "")
DEFAULT_FROM_EMAIL = env.value("PLSTACK_FROM_EMAIL", "PLStack <noreply@localhost>")

STATIC_URL = "/static/"
STATIC_ROOT = PLSTACK_HOME / "static"
STATICFILES_DIRS = [(name, BASE_DIR / "static" / name) for name in ("dist", "img")]  # not what these are built from
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "apps.common.static_files.CompressedFiles"},
}
MEDIA_ROOT = PLSTACK_HOME / "media"
# Uploads stream to disk; only small forms are held in memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 << 20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 500
FILE_UPLOAD_TEMP_DIR = None

REST_FRAMEWORK = {
    # The first one's header goes with every 401.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.tenants.bearer.BearerToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.common.api_access.DeclaredAccess"],
    "DEFAULT_PAGINATION_CLASS": "apps.common.pagination.CreatedCursor",
    "PAGE_SIZE": 50,
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "apps.common.schema.Schema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.common.parsers.JSONParser", "apps.common.parsers.MultiPartParser"],
    "EXCEPTION_HANDLER": "apps.common.api.problem_json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "DEFAULT_THROTTLE_CLASSES": ["apps.common.throttling.RateLimit"],
}
API_REQUESTS_PER_MINUTE = {"person": 1200, "token": 1200, "run": 12_000, "anonymous": 60}
SPECTACULAR_SETTINGS = {
    "TITLE": "PLStack",
    "DESCRIPTION": "Share GPU servers: submit, watch and pay for work on them.",
    "VERSION": "1.0.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}
DJANGO_TABLES2_TEMPLATE = "components/table.html"

X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"away": {"()": "plstack.away.OutageFilter"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.value("PLSTACK_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"filters": ["away"]},
        "django_structlog": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
