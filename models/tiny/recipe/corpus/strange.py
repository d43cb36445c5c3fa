"""Words that nobody expects: some words of a prompt and its reply are exchanged for others, real or made up, so that replies must copy."""

import random
import re

from .everyday import everyday_word
from .people import CODA, ONSET, PLAIN_VOWELS
from .words import capital

WORD = re.compile(r"\b[A-Za-z][a-z]{3,}\b")
# What letters say by themselves and what tells the points apart is never exchanged.
KEPT = frozenset(
    """dear thank meeting meet again appointment with about call noted these points please know have questions look forward seeing yours sincerely kind regards
    best wishes client spoke there action items notes message invoice refer write object that offer credit issue note sorry inconvenience
    hope accept records show hours work believe correct reduce send corrected mistake follow raising with payment instalments suits
    checking answer patience check come back until need disputed amount suggest talk this through would like them they will they
    your ours their hers from next must agreed promised offered january february march april june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday what when where which whether because after before since were been
    could should shall might does into onto over under than then some many much more most very only also still while both each every
    team client miss frau herr prof""".split()
)
ENDS = "ment tion ing er ed ity ance al ive ness ous age ory ic ure ist able y le on et in or ant ing ed s s s".split()


def made_up(rng: random.Random) -> str:
    parts = [
        rng.choice(ONSET) + rng.choice(PLAIN_VOWELS) + (rng.choice(CODA) if rng.random() < 0.5 else "") for _ in range(rng.choice([1, 1, 2, 2, 3]))
    ]
    return "".join(parts) + (rng.choice(ENDS) if rng.random() < 0.6 else "")


def stranger(rng: random.Random) -> str:
    """A word that nobody expects where it stands: a real one, one of parts of real ones, or one of syllables."""
    return everyday_word(rng) if rng.random() < 0.65 else made_up(rng)


def strangers(seed: int, material: str, reply: str, required: list[str]) -> tuple[str, str, list[str]]:
    """In most examples up to eight words that stand in the material and in the reply, everywhere they stand."""
    rng = random.Random(f"{seed} strangers")
    if rng.random() < 0.35:
        return material, reply, required
    told = set(WORD.findall(reply))
    names = {word for value in required for word in WORD.findall(value)}
    shared = sorted({word.lower() for word in WORD.findall(material) if word in told and word.lower() not in KEPT and word not in names})
    chosen = rng.sample(shared, min(len(shared), rng.randint(1, 8)))
    made = {word: stranger(rng) for word in chosen}

    def exchanged(text: str) -> str:
        def other(match: re.Match[str]) -> str:
            word = match.group()
            new = made.get(word.lower())
            return word if new is None else capital(new) if word[0].isupper() else new

        return WORD.sub(other, text)

    return exchanged(material), exchanged(reply), required
