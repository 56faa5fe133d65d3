"""What Linux is asked for beyond the standard library."""

import os
from pathlib import Path

from apps.workloads.drivers.local.linux import remove_tree


def test_a_tree_deeper_than_any_stack_is_removed_and_no_link_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "file").write_text("x")
    (tree / "link").symlink_to(tmp_path / "outside")
    (tree / "sub" / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(tree / "pipe")
    descriptor = os.open(tree, os.O_RDONLY)
    for _level in range(3000):
        os.mkdir("d", dir_fd=descriptor)
        child = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = child
    os.close(descriptor)
    remove_tree(tree)
    assert not tree.exists()
    assert (tmp_path / "outside" / "kept").read_text() == "kept"
