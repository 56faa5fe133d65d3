"""What runs inside a pod. Standard library only: any image with a Python can carry it."""
