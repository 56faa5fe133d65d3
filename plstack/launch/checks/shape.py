"""Limits on the shape of the code that no linter here knows: file length, function length, signal receivers."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("plstack", "apps", "scheduler", "tests", "benchmarks")
LONGEST_FILE = 300
LONGEST_FUNCTION = 40


def main() -> int:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [problem for path in paths if path.parent.name != "migrations" for problem in problems(path)]
    print("\n".join(found))
    return 1 if found else 0


def problems(path: Path) -> Iterator[str]:
    """What is too long in a file, or registers a signal receiver."""
    source = path.read_text()
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    lines = source.count("\n")
    if lines > LONGEST_FILE:
        yield f"{where}: {lines} lines, at most {LONGEST_FILE}: split it by what it is about"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                yield f"{where}:{node.lineno}: {node.name} has {length} lines, at most {LONGEST_FUNCTION}"
            if any("receiver" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield f"{where}:{node.lineno}: {node.name} is a signal receiver: call a service instead"


if __name__ == "__main__":
    sys.exit(main())
