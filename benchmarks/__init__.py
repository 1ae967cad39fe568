"""Benchmarks: `python -m benchmarks` measures the product beside its peers and its limits, on loopback."""
