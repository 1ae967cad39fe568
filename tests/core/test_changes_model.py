"""Random histories of a site: the product and the small model agree on every row and on what is remembered; two laws hold."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sitemap_actor.core.changes import codec
from sitemap_actor.core.changes.facts import ROBOTS, Came
from tests.core.monitor_model import Limits, Model, Run
from tests.core.monitor_world import ENTRY, File, Life

INDEX = "https://example.com/index.xml"
FILES = [
    "https://example.com/a.xml",
    "https://example.com/b.xml",
    "https://example.com/c.xml",
    "https://example.com/news.xml",
]
HOSTS = ["https://example.com", "http://example.com", "https://www.example.com"]
DATES = [None, None, "2023-01-01", "2023-02-01", "2023-02-01T00:00:00Z", "2023-03-05", "2099-01-01", "soon", "later"]
SMALL = Limits(stamp_pages=4, massive_pages=3)


class World:
    """A site that changes at random. `files`: url -> page path -> lastmod."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.host = dict.fromkeys(FILES, HOSTS[0])
        self.files: dict[str, dict[str, str | None]] = {url: {} for url in FILES}
        self.here = {url for url in FILES if rng.random() < 0.7}
        self.rolling = dict.fromkeys(FILES, False)
        self.silent: dict[str, str] = {}
        self.trouble = rng.choice([0.0, 0.0, 0.03, 0.3])
        self.down: dict[str, Came] = {}
        for number in range(rng.randint(0, 30)):
            self._add(number)

    def _add(self, number: int) -> None:
        self.files[self.rng.choice(FILES)][f"/p/{number}"] = self.rng.choice(DATES)

    def change(self) -> None:
        rng = self.rng
        for _ in range(rng.randint(0, 4)):
            url = rng.choice(FILES)
            paths = self.files[url]
            path = rng.choice(sorted(paths)) if paths else None
            match rng.randint(0, 13):
                case 0 | 1:
                    self._add(rng.randint(0, 40))
                case 2 | 3 if path:
                    del paths[path]
                case 4 if path:
                    self.files[rng.choice(FILES)][path] = paths.pop(path)
                case 5 | 6 if path:
                    paths[path] = rng.choice([*DATES, f"2023-{rng.randint(1, 9):02}-{rng.randint(1, 28):02}"])
                case 7:
                    stamp = f"2023-{rng.randint(1, 9):02}-11T10:00:00Z"
                    paths.update({path: stamp for path in paths if rng.random() < 0.8})
                case 8:
                    self.host[url] = rng.choice(HOSTS)
                case 9:
                    self.here ^= {url}
                case 10:
                    self.rolling[url] = not self.rolling[url]
                case 11:
                    paths.clear()
                case 12:
                    paths |= {f"/{url[-6]}/{number}": rng.choice(DATES) for number in range(rng.randint(0, 9))}
                case 13:
                    self.down.clear()
                    if self.trouble:
                        self.down[url] = rng.choice([Came.FAILED, Came.NOT_THERE, Came.PARTIAL])

    def listing(self) -> list[File]:
        """The files of one run, each as it came."""
        rng = self.rng
        files = [File(INDEX, came=self._came(INDEX))]
        if files[0].came is not Came.WHOLE:
            return files + [self._file(url, (ROBOTS,)) for url in FILES[:2] if url in self.here]
        named = [(ROBOTS,), (ROBOTS,), (INDEX,), (INDEX,)]
        order = [(url, names) for url, names in zip(FILES, named, strict=True) if url in self.here]
        rng.shuffle(order)
        return files + [self._file(url, names) for url, names in order]

    def _came(self, url: str) -> Came:
        if url in self.down:
            return self.down[url]
        if self.rng.random() >= self.trouble:
            return Came.WHOLE
        some = [Came.FAILED, Came.NOT_THERE]
        return self.rng.choice(some if url == INDEX else [*some, Came.PARTIAL, Came.CUT, Came.UNREAD, Came.LEFT_OUT])

    def _file(self, url: str, names: tuple[str, ...]) -> File:
        came = self._came(url)
        pages = [(self.host[url] + path, lastmod) for path, lastmod in self.files[url].items()]
        if pages and self.rng.random() < 0.2:
            pages.append((pages[0][0], self.rng.choice(DATES)))
        if came in {Came.PARTIAL, Came.CUT}:
            pages = pages[: len(pages) // 2]
        return File(url, pages, came, self.rolling[url], names)

    def settings(self) -> dict[str, object]:
        rng = self.rng
        for url, paths in self.files.items():
            for path in paths:
                key = self.host[url] + path
                if rng.random() < 0.03:
                    self.silent[key] = rng.choice(["pattern", "unjudged"])
                elif rng.random() < 0.2:
                    self.silent.pop(key, None)
        return {
            "cap": rng.choice([None] * 8 + [3, 8]),
            "saved": rng.choice([None] * 8 + [0, 2, 5]),
            "quota": rng.choice([100] * 8 + [0, 1, 3]),
            "existing": rng.random() < 0.2,
            "confirm": rng.choice([1, 1, 1, 2, 3]),
            "shrink": rng.choice([50, 50, 10, 100]),
        }


def _shown(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(row["changeType"], row["url"], row["lastmod"], row["previousLastmod"]) for row in rows]


def _remembered(life: Life) -> dict[str, tuple[object, ...]]:
    pages = {}
    numbers = {facts.number: url for url, facts in codec.read_head(life.head or b"", ENTRY).site.sitemaps.items()}
    for shard in life.shards:
        for block in codec.read_shard(shard, "pages", ENTRY, None):
            at: list[dict[str, float]] = [{} for _ in block["key"]]
            for page, sitemap, ord_ in zip(block["page"], block["sitemap"], block["ord"], strict=True):
                at[page][numbers[sitemap]] = ord_
            rows = zip(
                *(block[name] for name in ("key", "state", "kept", "missing", "unlisted", "quiet")), at, strict=True
            )
            pages |= {key: (state == 1, *rest) for key, state, *rest in rows}
    return pages


def check_history(rng: random.Random, steps: int, folder: Path) -> None:
    """One history; every run is compared with the model, and followed by a run over the unchanged site now and then."""
    world, life, model = World(rng), Life(folder), Model(SMALL)
    for _step in range(steps):
        files, chosen, readable = world.listing(), world.settings(), frozenset({ROBOTS})
        silent = dict(world.silent)
        again = rng.random() < 0.3
        for repeat in range(2 if again else 1):
            now = life.now
            if repeat:
                chosen = {**chosen, "quota": 1_000, "saved": None, "existing": False, "cap": None, "confirm": 1}
            out = life.run(files, silent=silent, readable=readable, **chosen)
            rows = model.run(Run(files, now, silent, readable=readable, **chosen))
            assert _shown(out.rows) == rows
            expected = {
                key: (page.told, page.kept, page.missing, int(page.stale), int(page.quiet), page.at)
                for key, page in model.pages.items()
            }
            assert _remembered(life) == expected
            assert out.facts.whole == model.whole
            assert {
                url: (f.whole, f.gone, f.confirmed, f.shrunk, f.stamped, f.missing, f.not_there, f.failed)
                for url, f in out.facts.sitemaps.items()
            } == {
                url: (m.whole, m.gone, m.confirmed, m.shrunk, m.stamped, m.missing, m.not_there, m.failed)
                for url, m in model.maps.items()
            }
            comparison = out.plan.comparison
            assert comparison.unchanged >= 0
            shown = {row["url"] for row in out.rows if row["changeType"] == "existing"}
            if chosen["existing"] and chosen["saved"] is None:
                assert len(shown) == comparison.unchanged
        world.change()


@settings(max_examples=150, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(2, 14))
def test_random_histories_agree_with_the_model(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    with TemporaryDirectory() as folder, _small_guards():
        check_history(rng, steps, Path(folder))


def _small_guards():
    """The guards that need many pages, scaled down so that small histories reach them."""
    return patch.multiple(
        "sitemap_actor.core.changes.compare",
        STAMP_LEAST_PAGES=SMALL.stamp_pages,
        MASSIVE_LEAST_PAGES=SMALL.massive_pages,
    )


@settings(max_examples=60, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(2, 14))
def test_law_an_unchanged_site_yields_no_change_row(seed: int, steps: int) -> None:
    """Whatever happened before: once a site was read whole twice as it is, nothing of it is reported any more."""
    with TemporaryDirectory() as folder, _small_guards():
        rng = random.Random(seed)
        world, life = World(rng), Life(Path(folder))
        for _step in range(steps):
            life.run(world.listing(), silent=dict(world.silent), **world.settings())
            world.change()
        files = [File(INDEX), *(File(url, [(HOSTS[0] + p, d) for p, d in world.files[url].items()]) for url in FILES)]
        for _settling in range(4):
            life.run(files, silent=dict(world.silent))
        assert life.run(files, silent=dict(world.silent)).rows == []


@settings(max_examples=60, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(2, 14))
def test_law_replaying_the_change_rows_gives_the_pages_read_whole(seed: int, steps: int) -> None:
    """From the baseline on, new and removed rows add up to exactly the pages of the last whole reading."""
    with TemporaryDirectory() as folder, _small_guards():
        rng = random.Random(seed)
        world, life = World(rng), Life(Path(folder))
        told: set[str] = set()
        files = FILES[:3]
        for step in range(steps * 2):
            whole = step % 2 == 1 or step == 0
            listing = [File(INDEX), *(world._file(url, (ROBOTS,)) for url in files)]
            for file in listing:
                file.rolling = False
                if whole:
                    file.came = Came.WHOLE
                    if file.url != INDEX:
                        file.pages = [(HOSTS[0] + path, lastmod) for path, lastmod in world.files[file.url].items()]
                else:
                    file.pages = [
                        (HOSTS[0] + url.removeprefix(world.host.get(file.url, "")), d) for url, d in file.pages
                    ]
            out = life.run(listing, shrink=100, quota=rng.choice([1000, 3]) if not whole else 1000)
            for row in out.rows:
                if row["changeType"] == "removed":
                    told.remove(str(row["url"]))
                else:
                    told.add(str(row["url"]))
            if whole and not out.plan.comparison.count(31, 30):
                assert told == {url for file in listing for url, _lastmod in file.pages}
            world.change()
