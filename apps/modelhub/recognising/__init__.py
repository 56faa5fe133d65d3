"""What kind of model some files are, from what they contain: nothing is loaded, unpickled or executed.

Pure Python without Django. Files come from anybody, so every reader takes a bounded number of bytes and steps, whatever
lengths and counts the bytes claim, and bytes that make no sense are `Malformed`: not the format that was looked for.
A new format is a module with one function and its line in `readers.py`.
"""
