"""For work on PLStack itself: errors in the browser, everything else as in the embedded installation."""

from plstack.settings.base import *  # noqa: F403

DEBUG = True
