"""scrapinghub.yml: what `shub deploy` reads."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_scrapinghub_yml_names_files_that_are_there() -> None:
    text = (ROOT / "scrapinghub.yml").read_text(encoding="utf-8")
    named = re.findall(r"^\s+file: (\S+)$", text, re.MULTILINE)
    assert named == ["requirements.txt"]
    assert (ROOT / named[0]).is_file()
    assert re.search(r"^  default: scrapy:\d+\.\d+-\d{8}$", text, re.MULTILINE)


def test_scrapy_cfg_and_the_egg_name_the_same_settings() -> None:
    cfg = (ROOT / "scrapy.cfg").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "default = sitemap_actor.settings" in cfg
    assert '[project.entry-points.scrapy]\nsettings = "sitemap_actor.settings"' in project
