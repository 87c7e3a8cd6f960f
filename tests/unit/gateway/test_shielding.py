import asyncio

import pytest

from perdure.gateway.shielding import Shield


async def test_a_write_runs_to_its_end_although_its_request_was_cancelled() -> None:
    shield, begun, go, done = Shield(), asyncio.Event(), asyncio.Event(), []

    async def write() -> None:
        begun.set()
        await go.wait()
        done.append(True)

    request = asyncio.ensure_future(shield(write()))
    await begun.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert not done
    go.set()
    await shield.drain(timeout_s=5)
    assert done == [True]


async def test_a_write_that_fails_after_its_request_is_gone_disturbs_nobody() -> None:
    shield, begun, go = Shield(), asyncio.Event(), asyncio.Event()

    async def write() -> None:
        begun.set()
        await go.wait()
        raise ValueError("late")

    request = asyncio.ensure_future(shield(write()))
    await begun.wait()
    request.cancel()
    go.set()
    await shield.drain(timeout_s=5)
    assert request.done()


async def test_the_result_and_the_error_of_a_write_are_its_callers() -> None:
    shield = Shield()

    async def good() -> int:
        return 7

    async def bad() -> int:
        raise ValueError("now")

    assert await shield(good()) == 7
    with pytest.raises(ValueError, match="now"):
        await shield(bad())
