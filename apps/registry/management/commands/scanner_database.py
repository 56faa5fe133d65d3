"""`manage.py scanner_database`: the vulnerability database of the image scanner, where the platform's worker runs.

The platform's database is asked for the proxy of addresses alone: a file is taken without it, as is possible where only
`make run` knows how to reach that database. The worker notices by itself that the files have changed.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.actor import Channel, system_actor
from apps.common.scoping import acting
from apps.registry.scanning import scanner


class Command(BaseCommand):
    help = "Show, import or update the vulnerability database of the image scanner."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        words.add_parser("status", help="what there is, and how old it is")
        bring = words.add_parser("import", help="take an archive for the database")
        bring.add_argument("source", help="a file, or an address; as from https://grype.anchore.io/databases")
        update = words.add_parser("update", help="ask a mirror for a newer one")
        update.add_argument("mirror", help="the address of its latest.json")

    def handle(self, *args: Any, **options: Any) -> None:
        with acting(system_actor(Channel.COMMAND)):
            try:
                if options["word"] == "import":
                    scanner.import_database(options["source"])
                elif options["word"] == "update":
                    scanner.update_database(options["mirror"])
            except (scanner.ScannerError, OSError) as error:
                raise CommandError(str(error)) from error
            seen = scanner.look()
        if seen.problem:
            raise CommandError(f"{seen.problem.label} {seen.detail}".strip())
        self.stdout.write(f"Grype {seen.version}, database of {seen.built_at:%Y-%m-%d %H:%M %Z}, schema {seen.schema}")
