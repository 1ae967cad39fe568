"""Sections that are measured once: where the CPU goes, memory at its limits, and a starved core."""

from collections.abc import Callable

SECTIONS: dict[str, Callable[..., str]] = {}
