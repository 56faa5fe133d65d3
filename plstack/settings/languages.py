"""Languages, formats and time. Which language is spoken by default is one of the console's settings."""

from pathlib import Path

from django.utils.translation import gettext_lazy as _

LANGUAGE_CODE = "en"
LANGUAGES = [("zh-hans", _("Chinese")), ("en", _("English"))]
LOCALE_PATHS = [Path(__file__).resolve().parent.parent.parent / "locale"]
LANGUAGE_COOKIE_NAME = "plstack_language"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Shanghai"
# Of the days by which is charged, and of schedules.
BILLING_TIME_ZONE = "Asia/Shanghai"
# Ids stand in attributes and addresses as they are: "1,309" is nobody. What people read has filters of its own.
USE_THOUSAND_SEPARATOR = False
FORMAT_MODULE_PATH = ["plstack.formats"]
