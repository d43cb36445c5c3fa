"""The template language of the corpus, and the split between what is trained on and what is held out."""

import random
import re
import zlib
from collections.abc import Callable

INNERMOST = re.compile(r"\{([^{}]*)\}")
SLOT = re.compile(r"<(\w+)>")


def say(rng: random.Random, template: str, **values: object) -> str:
    """Choose one branch of every `{a|b|c}` (they nest), then fill every `<slot>` with its value."""
    while True:
        template, found = INNERMOST.subn(lambda match: rng.choice(match.group(1).split("|")), template)
        if not found:
            return SLOT.sub(lambda match: str(values[match.group(1)]), template)


def lines(text: str) -> list[str]:
    """The entries of a `|`-separated list that may run over several source lines."""
    return [entry.strip() for entry in text.replace("\n", " ").split("|") if entry.strip()]


def capital(text: str) -> str:
    """The text with its first character in upper case."""
    return text[:1].upper() + text[1:]


def stopped(text: str) -> str:
    """The text with a full stop behind, unless it ends with a mark of its own (as '25.7.' does)."""
    return text if text[-1:] in (".", "?", "!") else text + "."


def sentence(text: str) -> str:
    """The text as one sentence: a capital in front, a full stop behind."""
    return stopped(capital(text.strip()))


def third_person(phrase: str) -> str:
    """The verb phrase with its verb in the third person: 'send the will' → 'sends the will'."""
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("y") and verb[-2] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "x", "go", "do", "z")) else "s"
    return f"{verb} {rest}".strip()


def is_held_out(text: str) -> bool:
    """Whether a name or a matter belongs to the evaluation alone. About one in ten does; the text decides, not chance."""
    return zlib.crc32(text.encode()) % 10 == 0


def draw(make: Callable[[], str], held_out: bool) -> str:
    """Call `make` until its text is on the wanted side of the split."""
    while True:
        text = make()
        if is_held_out(text) == held_out:
            return text
