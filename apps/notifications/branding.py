"""The installation's name, logos and language, for each portal."""

from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings as installation
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid, Text
from apps.notifications import pictures

LONGEST_NAME = 40
PRODUCT = "PLStack"


@dataclass(frozen=True, slots=True)
class Brand:
    """One portal's name, and the path of its logo (empty: the product's own)."""

    name: str
    logo: str


@dataclass(frozen=True, slots=True)
class BrandingSettings:
    """Pictures by the names that `pictures.store_picture` returned; empty: the product's own.

    `language`: of people who have chosen none; empty: Chinese for Chinese browsers, English for all others.
    """

    KEY: ClassVar[str] = "branding"
    portal_name: str = ""
    portal_logo: str = ""
    console_name: str = ""
    console_logo: str = ""
    favicon: str = ""
    language: str = ""

    def validate(self) -> None:
        names = {"portal_name": self.portal_name, "console_name": self.console_name}
        errors: dict[str, Text] = {
            field: _("A name has one line and up to 40 characters.")
            for field, name in names.items()
            if len(name) > LONGEST_NAME or not name.isprintable()
        }
        if self.language and self.language not in dict(installation.LANGUAGES):
            errors["language"] = _("Choose one of the languages that there are.")
        if errors:
            raise Invalid(_("Some values cannot be accepted."), fields=errors)

    @property
    def portal(self) -> Brand:
        return Brand(self.portal_name or PRODUCT, pictures.path_of(self.portal_logo))

    @property
    def console(self) -> Brand:
        """Has the portal's name unless it has its own."""
        logo = self.console_logo or ("" if self.console_name else self.portal_logo)
        return Brand(self.console_name or self.portal.name, pictures.path_of(logo))

    @property
    def icon(self) -> str:
        return pictures.path_of(self.favicon)
