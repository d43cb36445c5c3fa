"""Letters to the client, summaries and lists of action items, each from the facts of a case."""

import random

from .facts import Case, Fact, figures_of, letter_sentence, summary_clause, tail
from .notes import contact_of
from .words import capital, stopped

THANKS = {
    "meeting": "Thank you for meeting with us", "call": "Thank you for the call", "video call": "Thank you for the video call", "visit": "Thank you for your visit",
    "conversation": "Thank you for the conversation", "": "I am writing to follow up on our meeting",
}  # fmt: skip
SUMMED = {
    "meeting": "We met",
    "call": "We had a call with",
    "video call": "We had a video call with",
    "visit": "We had a visit from",
    "conversation": "We spoke to",
    "": "The meeting was with",
}
CLOSINGS = {
    "next": "We look forward to seeing you.",
    "you": "Please call us if anything is unclear.",
    "us": "We will keep you informed.",
    "money": "Please let us know if you agree.",
    "": "Please let us know if you have any questions.",
}


def salutation(case: Case, friendly: bool) -> str:
    if not case.shows["contact"]:
        return f"Dear {case.firm} team,"
    if friendly:
        return f"Dear {case.contact.first},"
    return f"Dear {case.contact.title} {case.contact.last}," if case.shows["title"] else f"Dear {case.contact.name},"


def signature(case: Case, friendly: bool) -> str:
    end = "Best wishes," if friendly else "Yours sincerely," if case.shows["title"] else "Kind regards,"
    if case.shows["sender"]:
        end += f"\n{case.sender.name}" + (f"\n{case.advisers}" if case.shows["advisers"] else "")
    return end


def closing(fact: Fact) -> str:
    """The last sentence before the greeting follows from the last point."""
    if fact.kind == "next":
        return "We look forward to speaking with you." if fact.mode == "call" else CLOSINGS["next"]
    if fact.kind == "act":
        return CLOSINGS["you" if fact.side == "you" else "us"]
    return CLOSINGS["money" if fact.kind in ("money", "change", "dec") else ""]


def letter(rng: random.Random, case: Case, facts: list[Fact], friendly: bool) -> str:
    """A letter that tells the facts in the order of the notes, in one or two paragraphs."""
    on = f" on {case.date}" if case.shows["date"] else ""
    about = f" about the {case.topic}" if case.shows["topic"] else ""
    points = [letter_sentence(rng, fact) for fact in facts]
    half = len(points) if len(points) < 3 else len(points) // 2
    body = [" ".join(part) for part in (points[:half], points[half:]) if part]
    first = stopped(THANKS[case.kind] + on + about)
    return "\n\n".join([salutation(case, friendly), first, *body, closing(facts[-1]), signature(case, friendly)])


def required_in_letter(case: Case, facts: list[Fact], friendly: bool) -> list[str]:
    """Every name, date and amount that the letter must carry."""
    names = [(case.contact.first if friendly else case.contact.last) if case.shows["contact"] else case.firm]
    names += [case.sender.name] if case.shows["sender"] else []
    names += [fact.owner for fact in facts if fact.side == "other"]
    return names + ([case.date] if case.shows["date"] else []) + [value for fact in facts for value in figures_of(fact)]


def joined(clauses: list[str]) -> str:
    return clauses[0] if len(clauses) == 1 else ", ".join(clauses[:-1]) + (", and " if len(clauses) > 2 else " and ") + clauses[-1]


def summary(rng: random.Random, case: Case, facts: list[Fact]) -> str:
    """Two or three sentences: who met about what, then the facts in the order of the notes."""
    on = f" on {case.date}" if case.shows["date"] else ""
    who = contact_of(case) if case.shows["contact"] else case.firm
    of = f" of {case.firm}" if case.shows["contact"] and case.shows["firm"] else ""
    first = stopped(f"{SUMMED[case.kind]} {who}{of}{on}" + (f" about the {case.topic}" if case.shows["topic"] else ""))
    clauses = [summary_clause(rng, fact) for fact in facts]
    half = len(clauses) if len(clauses) < 2 else (len(clauses) + 1) // 2
    parts = [part for part in (clauses[:half], clauses[half:]) if part]
    return " ".join([first, *(stopped(capital(joined(part))) for part in parts)])


def required_in_summary(case: Case, facts: list[Fact]) -> list[str]:
    names = [case.contact.last] if case.shows["contact"] else [case.firm]
    names += [fact.owner for fact in facts if fact.kind == "act" and fact.owner not in ("We", "Client")]
    return names + ([case.date] if case.shows["date"] else []) + [value for fact in facts for value in figures_of(fact)]


def action_list(facts: list[Fact], numbered: bool) -> str:
    """One line for each thing to do: who, what, by when."""
    todo = [f"{fact.owner}: {fact.text}{tail(fact.due)}" for fact in facts if fact.kind == "act"]
    if not todo:
        return "There are no action items in these notes."
    return "\n".join(f"{index}. {entry}" if numbered else f"- {entry}" for index, entry in enumerate(todo, 1))


def required_in_actions(facts: list[Fact]) -> list[str]:
    values = []
    for fact in facts:
        if fact.kind == "act":
            values += figures_of(fact) + ([fact.owner] if fact.owner not in ("We", "Client") else [])
    return values
