"""The wallet's page."""
