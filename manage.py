#!/usr/bin/env python
"""Django's command line for PLStack."""

import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")

import plstack.celery  # noqa: F401  commands nudge the same broker as the processes do

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
