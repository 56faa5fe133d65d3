"""Starting work, whatever its kind: the form, the quote while one chooses, what a start asks the kernel for."""
