"""What the platform promises of NVIDIA cards, tried on the card of this machine.

    python -m benchmarks.hardware [--site FOLDER] [--without NAME ...] [--json]

Each check starts work with the local driver, as the platform does, and compares what comes of it with what nvidia-smi
says, or with what CUDA answers to the program. It needs a card that nothing else uses, root, and bubblewrap. `--site`:
a folder of packages with PyTorch for this Python; without it the checks that need PyTorch are left out. Settings of the
card stay as they are: MIG is only read, and compute mode not touched; MPS is started for its check and ended after it.

Exit status 1 where a check failed. What was seen, where and when, is kept in docs/hardware.md and
`apps/clusters/proofs.py`.
"""
