"""What scans and policies are described with."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Severity(models.TextChoices):
    """As Grype grades a finding, in the scanner's own words; the worst first."""

    CRITICAL = "critical", pgettext_lazy("severity", "Critical")
    HIGH = "high", pgettext_lazy("severity", "High")
    MEDIUM = "medium", pgettext_lazy("severity", "Medium")
    LOW = "low", pgettext_lazy("severity", "Low")
    NEGLIGIBLE = "negligible", pgettext_lazy("severity", "Negligible")
    UNKNOWN = "unknown", pgettext_lazy("severity", "Unknown")

    @property
    def rank(self) -> int:
        """The worse, the higher. What nobody has graded is the lowest, as with Grype's own --fail-on."""
        return len(Severity) - list(Severity).index(self)


THRESHOLDS = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)
"""From which on a policy may act."""


class PolicyAction(models.TextChoices):
    """What becomes of a start in an image with findings from the policy's severity on."""

    OFF = "off", pgettext_lazy("image policy", "Nothing")
    WARN = "warn", pgettext_lazy("image policy", "Warn before the start")
    BLOCK = "block", pgettext_lazy("image policy", "Do not start it")


class ScanProblem(models.TextChoices):
    """Why the last scan of an image came to nothing."""

    NONE = "", _("None")
    IMAGE_AWAY = "image_away", _("The image could not be fetched.")
    NOT_AN_IMAGE = "not_an_image", _("There is no image for Linux under this digest.")
    TOO_LARGE = "too_large", _("The image is larger than what is scanned.")
    NO_ROOM = "no_room", _("The scanner's disk is full.")
    TIMED_OUT = "timed_out", _("The scan took too long.")
    TOO_MUCH_OUTPUT = "too_much_output", _("The scanner's answer was too large.")
    SCANNER_FAILED = "scanner_failed", _("The scanner ended with an error.")
    NO_SANDBOX = "no_sandbox", _("The scanner could not be started in its sandbox.")


class ScannerProblem(models.TextChoices):
    """What keeps the platform from scanning at all."""

    NONE = "", _("None")
    NO_SCANNER = "no_scanner", _("No Grype is installed where the platform's worker runs.")
    BROKEN = "broken", _("Grype does not start.")
    NO_DATABASE = "no_database", _("Grype has no vulnerability database.")
