"""Dates, times, amounts and reference numbers, each in the many forms in which people write them."""

import random
from collections.abc import Callable

MONTHS = "January February March April May June July August September October November December".split()
SHORT = "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
SIGNS = ["£", "£", "£", "$", "$", "€", "€"]
CODES = ["EUR", "EUR", "USD", "CHF", "CHF", "GBP", "SEK", "AUD", "CAD"]


def ordinal(day: int) -> str:
    return f"{day}{'th' if 10 <= day <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def dates(rng: random.Random) -> Callable[[], str]:
    """One writer's way to write dates: a function that draws a new date in the same form at every call."""
    form = rng.choices(range(14), [30, 24, 10, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 3])[0]
    year = rng.randint(2023, 2031)

    def date() -> str:
        day, month = rng.randint(1, 28), rng.randrange(12)
        long, short = MONTHS[month], SHORT[month]
        return [
            f"{day} {long}", f"{day} {long} {year}", f"{long} {day}", f"{long} {day}, {year}", f"{ordinal(day)} {long}", f"{rng.choice(DAYS)} {day} {long}",
            f"{day:02d}/{month + 1:02d}/{year}", f"{day:02d}.{month + 1:02d}.{year}", f"{year}-{month + 1:02d}-{day:02d}", f"{day} {short}",
            f"{short} {day}", f"{rng.choice(DAYS)}, {long} {day}", f"{day} {short} {year}", f"{day}.{month + 1}.",
        ][form]  # fmt: skip

    return date


def near_dates(rng: random.Random) -> tuple[str, Callable[[], str]]:
    """The day of a meeting, mostly with its year, and a function that draws days of that month and the next two, mostly without."""
    month, year, form = rng.randrange(12), rng.randint(2023, 2031), rng.choice([0, 0, 0, 0, 1, 2])

    def written(day: int, at: int, of: str) -> str:
        if form == 1:
            return f"{MONTHS[at % 12]} {day}" + (f", {of}" if of else "")
        return f"{day} {(SHORT if form == 2 else MONTHS)[at % 12]}" + (f" {of}" if of else "")

    def later() -> str:
        weekday = f"{rng.choice(DAYS)} " if form == 0 and rng.random() < 0.15 else ""
        return weekday + written(rng.randint(1, 30), month + rng.choices([0, 1, 2], [45, 40, 15])[0], str(year) if rng.random() < 0.04 else "")

    return written(rng.randint(1, 30), month, str(year) if rng.random() < 0.75 else ""), later


def due(rng: random.Random, date: Callable[[], str]) -> str:
    """A time limit as a phrase that can follow a verb; most carry a date, some only a day or a span."""
    kind = rng.random()
    if kind < 0.63:
        return f"by {date()}"
    if kind < 0.72:
        return f"on {date()}"
    if kind < 0.78:
        return f"before {date()}"
    if kind < 0.84:
        return f"by {rng.choice(DAYS)}"
    if kind < 0.89:
        return f"by the end of {rng.choice(MONTHS)}"
    if kind < 0.93:
        return f"by mid-{rng.choice(MONTHS)}"
    if kind < 0.96:
        return rng.choice(
            ["next week", "this week", "this month", "next month", "as soon as possible", "today", "tomorrow", "immediately", "this afternoon"]
        )
    return f"within {rng.choice(['two', 'three', 'four', 'ten', '7', '10', '14', '30'])} {rng.choice(['days', 'working days', 'weeks'])}"


def clock(rng: random.Random) -> str:
    hour = rng.randint(8, 17)
    minute = rng.choice(["00", "00", "15", "30", "30", "45"])
    half = "am" if hour < 12 else "pm"
    twelve = hour if hour <= 12 else hour - 12
    return rng.choice(
        [
            f"{hour}:{minute}",
            f"{hour:02d}:{minute}",
            f"{hour}.{minute}",
            f"{twelve}:{minute} {half}",
            f"{twelve}{half}",
            f"{twelve} {half}",
            f"{hour}h{minute}",
        ]
    )


def money(rng: random.Random, pence: float = 0.2, most: int = 1) -> Callable[..., str]:
    """One writer's way to write amounts: a function of the bounds (in whole units) that draws an amount in the same form at every call.
    `pence` is the share of amounts with two decimals; one in three is up to `most` times as large."""
    sign, code, form = rng.choice(SIGNS), rng.choice(CODES), rng.choices(range(9), [40, 8, 14, 14, 6, 5, 4, 4, 3])[0]

    def amount(low: int = 80, high: int = 90_000) -> str:
        if most > 1 and rng.random() < 0.35:
            high *= most
        value = rng.randint(low, high) if rng.random() < 0.35 else max(1, rng.randint(low // 50, high // 50)) * 50
        cents = f".{rng.randint(0, 99):02d}" if rng.random() < pence else ""
        grouped = f"{value:,}"
        return [
            f"{sign}{grouped}{cents}", f"{sign}{value}{cents}", f"{code} {grouped}{cents}", f"{grouped}{cents} {code}", f"{value} {code}",
            f"{code} {grouped.replace(',', chr(39))}{cents}", f"{sign}{grouped.replace(',', '.')},{rng.randint(0, 99):02d}", f"{grouped} {rng.choice(['euros', 'pounds', 'dollars', 'francs'])}",
            f"{sign}{max(1, value // 1000)}k",
        ][form]  # fmt: skip

    return amount


def hours(rng: random.Random) -> str:
    return str(rng.randint(2, 160)) + (rng.choice([".5", ".25", ".75"]) if rng.random() < 0.2 else "")


def invoice_number(rng: random.Random) -> str:
    """An invoice number in one of the shapes that billing programs print."""
    number = rng.randint(100, 99_999)
    year = rng.randint(2023, 2031)
    return rng.choice(
        [
            f"INV-{number}",
            f"{number}",
            f"{rng.choice('ABCDFHKMRST')}{number}",
            f"{year}-{number % 1000:03d}",
            f"{year}/{number % 10_000}",
            f"INV{number}",
            f"R-{year}-{number % 1000:04d}",
            f"#{number}",
            f"no. {number}",
            f"{rng.choice(['TG', 'FS', 'HB', 'CL', 'MW'])}-{number}",
        ]
    )
