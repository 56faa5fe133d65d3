"""Where mail goes: the server that the console's settings name, else the one that the environment names here."""

from plstack.settings import env

EMAIL_BACKEND = "apps.notifications.gateways.mail.ChosenBackend"
EMAIL_HOST = env.value("PLSTACK_SMTP_HOST", "")
EMAIL_PORT = env.port("PLSTACK_SMTP_PORT", 587)
EMAIL_HOST_USER = env.value("PLSTACK_SMTP_USER", "")
EMAIL_HOST_PASSWORD = env.value("PLSTACK_SMTP_PASSWORD", "")
EMAIL_USE_SSL = env.value("PLSTACK_SMTP_SECURITY", "starttls") == "tls"
EMAIL_USE_TLS = env.value("PLSTACK_SMTP_SECURITY", "starttls") == "starttls"
EMAIL_TIMEOUT = 10
MAIL_WITHOUT_SETTINGS = (
    "django.core.mail.backends.smtp.EmailBackend" if EMAIL_HOST else "apps.notifications.gateways.mail.PrivateFiles"
)
