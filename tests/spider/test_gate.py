"""The gate: one request per host at a time, the gap counted from the end, and an end that lets everybody go."""

import asyncio
import time
from collections.abc import Callable

import pytest

from sitemap_actor.core.reasons import SkipReason
from sitemap_actor.download.errors import Refusal
from sitemap_actor.download.gate import Gate

A, B = "https://a.example", "https://b.example"
CLOSED = Refusal(SkipReason.HOST_CLOSED, "a 429 earlier")


class Log:
    """Enters a gate's turns in tasks, and writes down who came in and out, and when."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.events: list[str] = []
        self.times: dict[str, float] = {}

    def enter(
        self, name: str, host: str = A, *, not_before: float = 0.0, until: asyncio.Event | None = None
    ) -> asyncio.Task[None]:
        return asyncio.create_task(self._enter(name, host, not_before, until), name=name)

    async def _enter(self, name: str, host: str, not_before: float, until: asyncio.Event | None) -> None:
        async with self.gate.turn(host, not_before=not_before):
            self._note(f"{name} in")
            if until is not None:
                await until.wait()
            self._note(f"{name} out")

    def _note(self, event: str) -> None:
        self.events.append(event)
        self.times[event] = time.monotonic()


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def no_gap(_host: str) -> float:
    return 0.0


def gap_of(seconds: float) -> Callable[[str], float]:
    return lambda _host: seconds


async def test_one_at_a_time_per_host_in_order_of_arrival() -> None:
    log = Log(Gate(no_gap))
    await asyncio.gather(*(log.enter(str(number)) for number in range(5)))
    assert log.events == [f"{number} {way}" for number in range(5) for way in ("in", "out")]


async def test_the_gap_is_counted_from_the_end_of_the_last_request() -> None:
    log = Log(Gate(gap_of(0.1)))
    done = asyncio.Event()
    first, second = log.enter("first", until=done), log.enter("second")
    asyncio.get_running_loop().call_later(
        0.15, done.set
    )  # longer than the gap: counted from the start it would be over
    await asyncio.gather(first, second)
    assert log.times["second in"] - log.times["first out"] >= 0.1


async def test_the_gap_also_follows_a_request_that_failed() -> None:
    gate = Gate(gap_of(0.1))
    with pytest.raises(ZeroDivisionError):
        async with gate.turn(A):
            raise ZeroDivisionError
    failed = time.monotonic()
    async with gate.turn(A):
        assert time.monotonic() - failed >= 0.09


async def test_a_host_asked_for_the_first_time_does_not_wait() -> None:
    gate = Gate(gap_of(1000))
    async with asyncio.timeout(5), gate.turn(A):
        pass


async def test_a_gap_that_grew_while_waiting_holds() -> None:
    gaps = {A: 0.05}
    log = Log(Gate(lambda host: gaps[host]))
    await log.enter("first")
    second = log.enter("second")
    await settle()
    gaps[A] = 0.2
    await second
    assert log.times["second in"] - log.times["first out"] >= 0.2


async def test_a_slow_host_holds_no_other() -> None:
    log = Log(Gate(gap_of(1000)))
    never = asyncio.Event()
    slow = [log.enter("slow", A, until=never), log.enter("queued", A)]
    async with asyncio.timeout(5):
        await log.enter("other", B)
    assert log.events == ["slow in", "other in", "other out"]
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_retry_waits_for_its_moment_and_the_others_pass_it() -> None:
    log = Log(Gate(no_gap))
    start = time.monotonic()
    retry = log.enter("retry", not_before=start + 0.1)
    await asyncio.gather(retry, log.enter("a"), log.enter("b"))
    assert log.events == ["a in", "a out", "b in", "b out", "retry in", "retry out"]
    assert log.times["retry in"] - start >= 0.1


async def test_a_retry_whose_moment_has_come_goes_before_those_that_wait() -> None:
    log = Log(Gate(no_gap))
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    tasks = [log.enter("open", until=done), log.enter("new"), log.enter("retry", not_before=loop.time() + 0.02)]
    loop.call_later(0.05, done.set)
    await asyncio.gather(*tasks)
    assert log.events == ["open in", "open out", "retry in", "retry out", "new in", "new out"]


async def test_a_held_host_lets_nobody_through_before_its_moment() -> None:
    log = Log(Gate(no_gap))
    start = asyncio.get_running_loop().time()
    log.gate.hold_host(A, start + 0.1)
    await asyncio.gather(log.enter("held", A), log.enter("free", B))
    assert log.times["free in"] < log.times["held in"]
    assert log.times["held in"] - start >= 0.1


async def test_closing_a_host_releases_its_waiters_at_once_each_with_an_error_of_its_own() -> None:
    log = Log(Gate(gap_of(1000)))
    done = asyncio.Event()
    opened = log.enter("open", until=done)
    waiters = [log.enter("queued"), log.enter("retry", not_before=time.monotonic() + 1000)]
    await settle()
    log.gate.close_host(A, CLOSED)
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert [(type(error), error.reason, error.detail) for error in results if isinstance(error, Refusal)] == [
        (Refusal, SkipReason.HOST_CLOSED, "a 429 earlier")
    ] * 2
    assert results[0] is not results[1]
    done.set()
    await opened  # the request that is on its way may finish
    assert log.events == ["open in", "open out"]


async def test_closing_a_host_releases_one_that_sleeps_out_the_gap() -> None:
    log = Log(Gate(gap_of(1000)))
    await log.enter("first")
    sleeper = log.enter("sleeper")
    await settle()
    log.gate.close_host(A, CLOSED)
    with pytest.raises(Refusal):
        await sleeper


async def test_a_closed_host_refuses_later_comers_and_only_its_own() -> None:
    gate = Gate(no_gap)
    gate.close_host(A, CLOSED)
    with pytest.raises(Refusal):
        async with gate.turn(A):
            pass
    async with gate.turn(B):
        pass


async def test_closing_the_gate_breaks_open_turns_off_too() -> None:
    log = Log(Gate(no_gap))
    never = asyncio.Event()
    tasks = [log.enter("a", A, until=never), log.enter("b", B, until=never), log.enter("queued", A)]
    await settle()
    log.gate.close(Refusal(SkipReason.NOT_REACHED, "aborted"))
    log.gate.close(Refusal(SkipReason.NOT_REACHED, "aborted"))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [Refusal] * 3
    assert len({id(result) for result in results}) == 3
    assert log.events == ["a in", "b in"]
    with pytest.raises(Refusal):
        async with log.gate.turn("https://new.example"):
            pass


async def test_closing_the_gate_in_the_round_in_which_a_turn_was_given() -> None:
    log = Log(Gate(no_gap))
    async with log.gate.turn(A):
        second = log.enter("second")
        await settle()
    log.gate.close(CLOSED)  # the second has its turn now, but its task has not run yet
    with pytest.raises(Refusal):
        await second
    assert log.events == []


async def test_a_waiter_that_gives_up_leaves_the_queue_whole() -> None:
    log = Log(Gate(no_gap))
    done = asyncio.Event()
    tasks = [log.enter(name, until=done if name == "open" else None) for name in ("open", "gone", "next")]
    await settle()
    tasks[1].cancel()
    await settle()
    assert log.gate.waiting(A) == 1
    done.set()
    await asyncio.gather(tasks[0], tasks[2])
    assert log.events == ["open in", "open out", "next in", "next out"]


async def test_a_waiter_that_gives_up_in_the_round_of_its_turn_passes_it_on() -> None:
    log = Log(Gate(no_gap))
    async with log.gate.turn(A):
        gone, following = log.enter("gone"), log.enter("next")
        await settle()
    gone.cancel()  # it has the turn now, but has not run yet
    async with asyncio.timeout(5):
        await following
    assert log.events == ["next in", "next out"]


async def test_the_last_waiter_giving_up_leaves_no_timer_behind() -> None:
    log = Log(Gate(gap_of(0.05)))
    await log.enter("first")
    gone = log.enter("gone")
    await settle()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    async with asyncio.timeout(5):
        await log.enter("later")
    assert log.events == ["first in", "first out", "later in", "later out"]


async def test_a_timeout_of_the_block_itself_stays_a_timeout() -> None:
    gate = Gate(no_gap)
    with pytest.raises(TimeoutError):
        async with gate.turn(A):
            raise TimeoutError("the block's own")


async def test_five_thousand_waiters_pass_in_order() -> None:
    log = Log(Gate(no_gap))
    await asyncio.gather(*(log.enter(str(number)) for number in range(5000)))
    assert log.events[-1] == "4999 out"
    assert log.events == [f"{number} {way}" for number in range(5000) for way in ("in", "out")]
