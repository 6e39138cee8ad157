"""`make growth`: what passwords that strangers choose take of the processor, and from those who sign in."""

import asyncio
import random
import time
from contextlib import AsyncExitStack
from statistics import median
from uuid import uuid4

import httpx

from bench.kit.servers import gateway, run, site
from oauth.sign_in.password_strength import is_easy_to_guess
from tests.growth.test_growth import SEED, show
from tests.support.browsers.browsing import PASSWORD, Browsing
from tests.support.callers.password_texts import LIKE_LETTERS, LONGEST, PIECES
from tests.support.mails.mailed_links import ask_to_sign_up, sign_up_path

MOST_SECONDS = 0.05
SEARCHED, KEPT, REPEATED = 1_000, 12, 3
HOSTILE = 100
TIMES_AS_LONG = 2
ABOUT = ["ada@example.com", "ada", "example.com", "Ada Lovelace"]


def seconds_for(password: str) -> float:
    started = time.thread_time()
    is_easy_to_guess(password, ABOUT)
    return time.thread_time() - started


def drawn(draw: random.Random) -> str:
    pieces = draw.choice([LIKE_LETTERS, PIECES, draw.sample(PIECES, draw.randint(1, 12))])
    text = "".join(draw.choice(pieces) for _ in range(LONGEST))
    unit = draw.choice([LONGEST, draw.randint(1, LONGEST // 2)])
    return (text[:unit] * LONGEST)[:LONGEST]


def changed(draw: random.Random, text: str) -> str:
    signs = list(text)
    for _ in range(draw.randint(1, 5)):
        place, other = draw.randrange(len(signs)), draw.randrange(len(signs))
        change = draw.choice(["piece", "swap", "repeat"])
        if change == "piece":
            signs[place] = draw.choice(PIECES)
        elif change == "swap":
            signs[place], signs[other] = signs[other], signs[place]
        else:
            length = draw.randint(2, 9)
            signs[place : place + length] = signs[max(0, place - length) : place]
    return ("".join(signs) + "a" * LONGEST)[:LONGEST]


def test_the_most_expensive_password_takes_little_time():
    draw, worst = random.Random(SEED), [(0.0, "a")]
    for number in range(SEARCHED):
        text = drawn(draw) if number < SEARCHED // 10 else changed(draw, draw.choice(worst)[1])
        seconds = seconds_for(text)
        if seconds > worst[-1][0] or len(worst) < KEPT:
            # A measurement may include the collection of garbage.
            seconds = min(seconds, *(seconds_for(text) for _ in range(REPEATED)))
            worst = sorted([*worst, (seconds, text)], reverse=True)[:KEPT]
    show(f"Of {SEARCHED} passwords, the worst takes {worst[0][0] * 1000:.1f} ms: {worst[0][1]}")
    assert worst[0][0] < MOST_SECONDS


async def sign_up(browser: Browsing, number: int) -> int:
    password = ("".join(LIKE_LETTERS) * LONGEST)[number % len(LIKE_LETTERS) :][:LONGEST]
    return (await browser.press("Create account", password=password, follow=False)).status_code


async def timed_sign_in(address: str, email: str) -> float:
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        browser = Browsing(client)
        await browser.open("/sign-in")
        started = time.monotonic()
        answer = await browser.press("Sign in", email=email, password=PASSWORD, follow=False)
        assert answer.status_code == 303, answer.text
        return time.monotonic() - started


async def test_hostile_sign_ups_keep_no_sign_in_waiting():
    email = f"{uuid4().hex}@example.com"
    with site("sqlite") as place:
        run(place, "users", "create", "--email", email, typed=PASSWORD)
        async with AsyncExitStack() as opened:
            server = opened.enter_context(gateway(place, DUOGRAPH_RATE_LIMIT_RESTRICTED="0"))
            alone = [await timed_sign_in(server.address, email) for _ in range(9)]
            clients = [
                httpx.AsyncClient(base_url=server.address, timeout=120, headers={"Connection": "close"})
                for _ in range(HOSTILE)
            ]
            browsers = [Browsing(await opened.enter_async_context(client)) for client in clients]
            for browser in browsers:
                stranger = f"{uuid4().hex}@example.com"
                await ask_to_sign_up(browser, stranger)
                await browser.open(await sign_up_path(place.folder / "outbox", stranger))
            attack = [asyncio.create_task(sign_up(browser, n)) for n, browser in enumerate(browsers)]
            beside = []
            while not all(task.done() for task in attack):
                beside.append(await timed_sign_in(server.address, email))
            statuses = [await task for task in attack]
    show(
        f"A sign-in takes {median(alone) * 1000:.0f} ms, beside {HOSTILE} hostile sign-ups "
        f"{median(beside) * 1000:.0f} ms (at most {max(beside) * 1000:.0f} ms of {len(beside)}); "
        f"{statuses.count(303)} accounts were created, {statuses.count(503)} sign-ups sent away."
    )
    assert median(beside) <= TIMES_AS_LONG * median(alone)
