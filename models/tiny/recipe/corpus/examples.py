"""One training example from one seed: the only door of the corpus."""

import random
from dataclasses import dataclass

from . import figures, instructions, letters
from .disputes import dispute
from .facts import Case, Point, kinds_of, new_case, pronoun
from .midway import midway_notes
from .notes import meeting_notes
from .offtopic import NO_INPUT, off_topic
from .people import Person, person, rarer, rarer_firm
from .strange import strangers
from .words import say

JOBS = {"letter": 33, "summary": 19, "actions": 32, "dispute": 11, "offtopic": 5}
TRAINED = JOBS | {"letter": 33, "summary": 15, "actions": 29, "dispute": 18}
POINTS = {"letter": [1, 2, 3, 3, 4, 4, 5, 6], "summary": [1, 2, 3, 3, 4, 5, 6], "actions": [2, 3, 4, 5, 6]}


@dataclass(frozen=True)
class Example:
    """A prompt, the reply to learn, and the names, dates and amounts that any good reply carries."""

    job: str
    messages: list[dict[str, str]]
    reply: str
    required: list[str]


def rendered(messages: list[dict[str, str]]) -> str:
    """The prompt as the engine's chat template renders it, up to the point where the model goes on."""
    return "".join(f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages) + "<|im_start|>assistant\n"


def example(seed: int, held_out: bool = False, job: str | None = None) -> Example:
    """The example of a seed. Held-out examples draw their names and matters from a part that training never sees."""
    rng = random.Random(f"{seed} {held_out} {job}")
    mix = JOBS if held_out else TRAINED
    job = job or rng.choices(list(mix), list(mix.values()))[0]
    if job == "offtopic":
        return Example(job, *off_topic(rng), [])
    if not held_out and rng.random() < 0.01:
        return without_input(rng, job)
    case = new_case(rng, held_out)
    case.tasks = job == "actions"
    case.free = None if held_out else random.Random(f"{seed} free")
    if case.free:
        vary(case.free, case, job)
    if job == "dispute":
        case.shows["contact"] = True
        material, reply, required = dispute(rng, case)
        if not held_out:
            material, reply, required = strangers(seed, material, reply, required)
        return Example(job, instructions.messages(rng, job, material), reply, present(required, material))
    mixed = case.tasks and case.free is not None and case.free.random() < 0.5
    count = case.free.randint(3, 8) if mixed else rng.choice(POINTS[job])
    kinds = kinds_of(rng, count, rng.choice([0, 1, 2, 2, 3, 3, 4]) if job == "actions" else 0, mixed)
    midway = case.free and not case.pair and not case.whose and case.free.random() < 0.14
    extra, reply, required, notes = from_notes(rng, job, case, *(midway_notes if midway else meeting_notes)(rng, case, kinds))
    if not held_out:
        notes, reply, required = strangers(seed, notes, reply, required)
    return Example(job, instructions.messages(rng, job, notes, extra), reply, present(required, notes))


def vary(rng: random.Random, case: Case, job: str) -> None:
    """What only the training has: rarer names, two clients, larger and odder sums, days of one month, a topic that is 'his' or 'her'."""
    case.contact, case.sender, case.others = rarer(rng, case.contact), rarer(rng, case.sender), [rarer(rng, other) for other in case.others]
    case.firm = rarer_firm(rng, case.firm)
    if rng.random() < 0.5:
        case.new_amount = figures.money(rng, pence=0.35, most=rng.choice([1, 10, 100]))
    if rng.random() < 0.5:
        case.date, case.new_date = figures.near_dates(rng)
    if job == "actions" and rng.random() < 0.5:
        case.others = [*case.others, *(rarer(rng, person(rng)) for _ in range(rng.choice([1, 1, 2, 3])))]
    case.shows["topic"] = case.shows["topic"] and rng.random() < 0.8
    if not case.shows["contact"] or job not in ("letter", "summary"):
        return
    if rng.random() < 0.14:
        other = rarer(rng, person(rng))
        case.pair = Person(other.title, other.first, case.contact.last, other.woman) if rng.random() < 0.6 else other
    elif case.shows["topic"] and rng.random() < 0.12:
        case.whose = "her" if pronoun(case) == "she" else "his"


def from_notes(rng: random.Random, job: str, case: Case, notes: str, points: list[Point], listed: bool) -> tuple[str, str, list[str], str]:
    """What the prompt asks for beyond the job, the reply, what it must carry, and the notes."""
    extra, friendly, numbered = "", False, False
    if job == "letter":
        friendly = rng.random() < 0.1
        signed = not case.shows["sender"] and rng.random() < 0.2
        extra = say(rng, instructions.FRIENDLY) if friendly else say(rng, instructions.FORMAL) if rng.random() < 0.08 else ""
        if signed:
            case.shows["sender"] = True
            extra = f"{extra}. {say(rng, instructions.SIGNED, by=case.sender.name)}".removeprefix(". ")
        reply, required = letters.letter(case, points, listed, friendly), letters.required_in_letter(case, points, friendly)
    elif job == "summary":
        reply, required = letters.summary(case, points), letters.required_in_summary(case, points)
    else:
        numbered = rng.random() < 0.1
        extra = say(rng, instructions.NUMBERED) if numbered else ""
        reply, required = letters.action_list(points, numbered), letters.required_in_actions(points)
    return extra, reply, required, notes


def present(required: list[str], material: str) -> list[str]:
    """What is required of the reply, once each, and only where the input really gives it."""
    return [value for value in dict.fromkeys(required) if value in material]


def without_input(rng: random.Random, job: str) -> Example:
    """The task alone, with nothing to work on."""
    return Example(job, [{"role": "user", "content": instructions.instruction(rng, job)}], NO_INPUT[job], [])
