"""Serves the demo site on loopback: one address and one free port for each of its hosts."""

from typing import Self

from aiohttp import web

from sitemap_actor.demo import site


class DemoServer:
    """The demo site while it is open: `async with DemoServer() as demo:`.

    `demo.bases` has each host's base URL; `demo.day` may be set to 2 while it runs, and the site changes at once.
    `demo.requests` lists what was asked for: (host name, path with query), in order.
    """

    def __init__(self, day: int = 1) -> None:
        self.bases: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        self._runners: list[web.AppRunner] = []
        self._answers: dict[str, dict[str, site.Answer]] = {}
        self._day = day

    @property
    def day(self) -> int:
        """The day that the site shows, one of site.DAYS."""
        return self._day

    @day.setter
    def day(self, day: int) -> None:
        self._day = day
        self._answers = site.answers(self.bases, day)

    @property
    def sites(self) -> list[str]:
        """The base URLs to give to a run as `sites`."""
        return [self.bases[name] for name in site.SITES]

    async def __aenter__(self) -> Self:
        try:
            for name, address in site.ADDRESSES.items():
                self.bases[name] = await self._open(name, address)
        except OSError:
            await self._close()
            raise
        self.day = self._day
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _open(self, name: str, address: str) -> str:
        async def answer(request: web.Request) -> web.Response:
            self.requests.append((name, request.path_qs))
            found = self._answers[name].get(request.path)
            if found is None:
                return web.Response(status=404, text="Not found.\n")
            return web.Response(status=found.status, body=found.body, headers={"Content-Type": found.content_type})

        app = web.Application()
        app.router.add_route("GET", "/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._runners.append(runner)
        await web.TCPSite(runner, address, 0).start()
        return f"http://{address}:{runner.addresses[0][1]}"

    async def _close(self) -> None:
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()
