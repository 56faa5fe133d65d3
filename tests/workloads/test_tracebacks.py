"""Which line of a program's last words names what went wrong."""

import pytest

from apps.workloads.tracebacks import LONGEST, exception_line

PLAIN = """epoch 1
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    a @ b
ValueError: matmul: Input operand 1 has a mismatch
"""
CHAINED = """Traceback (most recent call last):
  File "train.py", line 3
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 5
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
See documentation for Memory Management
"""
SYNTAX = """  File "train.py", line 1
    x = =
        ^
SyntaxError: invalid syntax
"""
RANKED = """[rank1]: Traceback (most recent call last):
[rank1]:   File "train.py", line 1
[rank1]: RuntimeError: NCCL
"""
CUT = """    raise X
  File "deep.py", line 99, in f
AssertionError
cleaning up
"""
CAUGHT = """Traceback (most recent call last):
  File "a.py"
Custom: neither an Error nor an Exception by name
"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (PLAIN, "ValueError: matmul: Input operand 1 has a mismatch"),
        (CHAINED, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
        (SYNTAX, "SyntaxError: invalid syntax"),
        (RANKED, "RuntimeError: NCCL"),
        (CUT, "AssertionError"),
        (CAUGHT, "Custom: neither an Error nor an Exception by name"),
        ("no such file", ""),
        ("an Error: in a sentence is none", ""),
        ("", ""),
    ],
)
def test_the_exception_is_found(output: str, line: str) -> None:
    assert exception_line(output) == line


def test_a_long_message_is_cut() -> None:
    found = exception_line(f"ValueError: {'x' * 500}")
    assert len(found) == LONGEST
    assert found.endswith("…")
