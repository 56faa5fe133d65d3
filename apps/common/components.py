"""Probes of the components that every process needs."""

import redis
from django.conf import settings
from django.db import Error, connection

SECONDS = 1.0


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        connection.close()
        return False
    return True


def redis_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
