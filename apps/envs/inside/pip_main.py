"""`pip` of an environment: installs into the home's overlay, whether or not `--user` says so."""

import sys

from pip._internal.cli.main import main

if __name__ == "__main__":
    sys.exit(main([word for word in sys.argv[1:] if word != "--user"]))
