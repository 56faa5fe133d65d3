"""`manage.py join_token --file PATH`: a token for a machine that joins without anybody at a browser."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.clusters.services import first_cluster
from apps.common.actor import Channel, system_actor
from apps.common.scoping import acting
from apps.workloads.nodes import make_token


class Command(BaseCommand):
    help = "Write a token with which one machine may join the first cluster within the hour."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", required=True, type=Path, help="where to write it, readable by its owner only")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        with acting(system_actor(Channel.COMMAND)) as actor:
            token = make_token(actor, cluster_id=first_cluster().pk)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(f"{token}\n")
            draft.replace(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}") from error
