"""For `scrapyd-deploy`, which builds its egg by calling this file; everything is said in pyproject.toml."""

from setuptools import setup

setup()
