"""The points of a case, and how each is put in notes, in a letter, in a summary and in a list of action items.

Replies mirror the notes: they keep the words of a point and change only who is spoken of ("she wants" → "you want"), so
that what a reply says is copied and not guessed."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from . import figures, matters
from .free import CLIENT_FORMS, CLIENT_TASKS, FORMS, FORMS_OF_ACTS, OUR_TASKS, SETTLED, TASKS, free_text
from .others import assignment, until
from .people import Person, advisers, firm, person
from .words import capital, say, third_person

KINDS = ["act", "client", "state", "plan", "fear", "money", "due", "next", "hours"]
WEIGHTS = [34, 24, 14, 7, 6, 14, 7, 9, 2]
PERSONS = ("he", "she", "his", "him", "self", "has", "is", "was", "vs")
YOU = {"he": "you", "she": "you", "his": "your", "him": "you", "self": "yourself", "has": "have", "is": "are", "was": "were", "vs": ""}


@dataclass
class Case:
    """One matter of one client: who, what, when, and the writer's habits for dates and amounts."""

    area: str
    topic: str
    firm: str
    contact: Person
    sender: Person
    advisers: str
    others: list[Person]
    date: str
    new_date: Callable[[], str]
    new_amount: Callable[..., str]
    shows: dict[str, bool]
    called: bool = False
    pair: Person | None = None  # a second client, of the case's free part
    alone: bool = False  # whether the notes call the client by the first name and nothing else
    unmet: bool = False  # whether the client has yet to be named: a point made now cannot be about them
    subject: str = ""  # how the point made now has to call the client, where the notes name them there
    whose: str = ""  # whose the topic is, where the notes say "his" or "her"
    tasks: bool = False  # whether a list of action items is wanted
    free: random.Random | None = None  # draws the free points, where the case has any


@dataclass
class Point:
    """One point: its text in the notes, in the letter and in the summary (without full stops), as an action item where it is
    one, and the dates, amounts and names that every reply which tells it must carry."""

    kind: str
    note: str
    letter: str
    summary: str
    action: str = ""
    values: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def new_case(rng: random.Random, held_out: bool) -> Case:
    area = matters.area_with(rng, held_out)
    shows = {
        "contact": rng.random() < 0.94,
        "firm": rng.random() < 0.65,
        "date": rng.random() < 0.9,
        "topic": rng.random() < 0.8,
        "sender": rng.random() < 0.5,
        "title": rng.random() < 0.5,
        "first": rng.random() < 0.75,
    }
    shows["first"] = shows["first"] or not shows["title"]
    shows["advisers"] = shows["sender"] and rng.random() < 0.4
    shows["firm"] = shows["firm"] or not shows["contact"]
    dates = figures.dates(rng)
    return Case(
        area, matters.topic(rng, area, held_out), firm(rng, held_out), person(rng, held_out), person(rng, held_out), advisers(rng, held_out),
        [person(rng, held_out) for _ in range(rng.choice([0, 1, 1, 2]))], dates(), dates, figures.money(rng), shows,
    )  # fmt: skip


def contact_of(case: Case) -> str:
    """The client's name as the notes introduce it."""
    if case.pair and not case.shows["title"] and case.pair.last == case.contact.last and case.pair.woman:
        return f"{case.contact.first} and {case.pair.name}"
    return " and ".join(called_by(case, person) for person in (case.contact, case.pair) if person)


def called_by(case: Case, person: Person) -> str:
    if case.alone:
        return person.first
    if not case.shows["first"]:
        return f"{person.title} {person.last}"
    return f"{person.title} {person.name}" if case.shows["title"] else person.name


def one_of(rng: random.Random, case: Case, person: Person) -> str:
    """One of two clients, as the notes tell them apart."""
    return f"{person.title} {person.last}" if case.shows["title"] else rng.choice([person.first, person.name])


def pronoun(case: Case) -> str:
    return "she" if case.contact.woman else "he"


def kinds_of(rng: random.Random, count: int, tasks: int = 0, mixed: bool = False) -> list[str]:
    """The kinds of the points in the order of the notes, `tasks` of them at least things to do; the next meeting mostly last.
    Unless they are to be mixed, things to do often stand at the end."""
    kinds: list[str] = []
    for kind in rng.choices(KINDS, WEIGHTS, k=count):
        kinds.append(kind if kind not in ("next", "hours") or kind not in kinds else "act")
    for at in rng.sample(range(count), min(tasks, count)):
        kinds[at] = "act"
    if rng.random() < 0.85:
        kinds.sort(key=lambda kind: kind == "next")
    if not mixed and rng.random() < 0.4:
        kinds.sort(key=lambda kind: kind in ("act", "next"))
    return kinds


def new_point(rng: random.Random, case: Case, kind: str, prose: bool, terse: bool) -> Point:
    """A point; the client's brother or sister is 'your brother' in a letter."""
    point = worded(rng, case, kind, prose, terse)
    if case.free and not case.pair:
        kin = "her sister" if case.contact.woman else "his brother"
        point.letter = re.sub(rf"\b{kin}\b", f"your {kin.split()[1]}", point.letter)
    return point


def worded(rng: random.Random, case: Case, kind: str, prose: bool, terse: bool) -> Point:
    """A point as a full sentence where the notes are prose or not terse, else perhaps as a few words."""
    if kind == "act":
        return task(rng, case, prose)
    if case.free and kind != "next" and case.free.random() < 0.4:
        return free_point(case.free, case, kind, terse and not prose)
    slots = {"amt": case.new_amount(), "amt2": case.new_amount(), "day": case.new_date(), "clock": figures.clock(rng), "hours": figures.hours(rng)}
    slots["meeting"] = rng.choice(["meeting", "meeting", "call", "appointment"])
    templates = JOTTED[kind] if terse and not prose and kind in JOTTED and rng.random() < 0.6 else TOLD[kind]
    template = rng.choice(templates)
    while case.free and case.tasks and LIKE_A_TASK.match(template):
        template = rng.choice(templates)
    chosen = filled(rng, case, template, slots)
    point = (
        about_client(rng, case, kind, chosen, terse and not prose)
        if any(f"<{name}>" in chosen for name in PERSONS)
        else Point(kind, chosen, chosen, chosen)
    )
    point.values = [value for name, value in slots.items() if name != "meeting" and f"<{name}>" in template]
    return spoken(rng, point) if prose else point


def free_words(case: Case, rng: random.Random, forms: list[str], named: bool = True) -> str:
    name = ""
    if named:
        other = rng.choice(case.others) if case.others else None
        name = rng.choice([other.name, other.name, other.first, f"{other.title} {other.last}"]) if other else case.advisers
    third = (
        ("they", "them", "their")
        if not case.shows["contact"] or rng.random() < 0.1
        else ("he", "him", "his")
        if case.contact.woman
        else ("she", "her", "her")
    )
    return free_text(rng, forms, case.new_date, case.new_amount, lambda: figures.clock(rng), name, third)


def free_point(rng: random.Random, case: Case, kind: str, terse: bool) -> Point:
    """A point that no list has, told in its own words; what the client does becomes 'you do' in the letter. Where tasks are
    listed, it is nothing that the client or somebody with a name has to do."""
    about = not case.unmet and (kind == "client" or rng.random() < 0.2)
    settled = case.tasks and about
    text = free_words(
        case,
        rng,
        SETTLED if settled else CLIENT_FORMS if about else FORMS if case.tasks else FORMS_OF_ACTS,
        named=settled or not (case.tasks or case.unmet),
    )
    if not any(f"<{slot}>" in text for slot in PERSONS):
        return Point(kind, text, text, text)
    point = about_client(rng, case, kind, text, terse)
    point.note, point.summary, mine = (
        CLIENT_VERB.sub(lambda match: third_person(match[1]), told) for told in (point.note, point.summary, point.letter)
    )
    point.letter = mine if case.pair else CLIENT_VERB.sub(r"\1", point.letter)
    return point


def filled(rng: random.Random, case: Case, template: str, slots: dict[str, str]) -> str:
    """The template with all its slots filled but those of the client's person."""
    persons = {name: f"<{name}>" for name in PERSONS}
    while any(f"<{name}>" in template for name in CLAUSES):
        clauses = {name: f"<{name}>" for name in (*persons, *slots, *SLOTS)} | {name: rng.choice(choices) for name, choices in CLAUSES.items()}
        template = say(rng, template, act=matters.action(rng, case.area), **clauses)
    return matters.fill(rng, case.area, template, act=matters.action(rng, case.area), **slots, **persons)


def of_client(case: Case) -> dict[str, str]:
    """What stands for the client's person in the notes."""
    verbs = {"has": "has", "is": "is", "was": "was", "vs": "s"}
    if case.contact.woman:
        return {"he": "she", "she": "she", "his": "her", "him": "her", "self": "herself"} | verbs
    return {"he": "he", "she": "he", "his": "his", "him": "him", "self": "himself"} | verbs


def about_client(rng: random.Random, case: Case, kind: str, chosen: str, terse: bool) -> Point:
    """A point about the client, who is 'she', 'Anna' or 'the client' in the notes, or left out; the letter says 'you'."""
    shows = case.shows
    subjects = [pronoun(case)] * 3 + ["the client"] + ([] if terse else ["my client"])
    if shows["contact"]:
        subjects += (
            [f"{case.contact.title} {case.contact.last}"] * 3 if shows["title"] else [case.contact.first, case.contact.first, case.contact.name]
        )
    if case.alone:
        subjects = [pronoun(case)] * 3 + [case.contact.first] * 2
    subject = case.subject or (one_of(rng, case, rng.choice([case.contact, case.pair])) if case.pair else rng.choice(subjects))
    third = of_client(case) | {"he": subject}
    if chosen.startswith("<his> ") and subject[0].isupper() and rng.random() < 0.5:
        third["his"] = f"{subject}'s"
    elif case.subject and not chosen.startswith("<he>") and "<him>" in chosen and "<she>" not in chosen:
        third["him"] = subject
    elif not chosen.startswith("<he>"):
        third["he"] = subject = pronoun(case)
    told = say(rng, chosen, **third)
    if case.pair:
        return Point(kind, told, told, told)
    summary = say(rng, chosen, **third | {"he": "the client"}) if subject == "my client" else told
    letter = say(rng, chosen, **YOU)
    if terse and chosen.startswith("<he> ") and rng.random() < 0.5:
        rest = chosen.removeprefix("<he> ")
        told = say(rng, rest.removeprefix("<is> ") if rng.random() < 0.6 else rest, **third)
        summary = say(rng, chosen, **third | {"he": "the client"})
    elif terse and chosen.startswith(("we ", "I ")) and rng.random() < 0.5:
        told = told.split(" ", 1)[1]
    return Point(kind, told, letter, summary)


def owner(rng: random.Random, case: Case, prose: bool) -> tuple[str, str, str]:
    """Who has to act: as the notes call them, as a list of action items does, and on which side they are."""
    shows, contact = case.shows, case.contact
    side = rng.choices(["you", "me", "us", "other"], [40, 14, 24, 22 if case.others else 0])[0]
    if side == "us":
        return rng.choice(["we", "we", "we"] if prose else ["we", "we", "We", "us", "Us"]), "We", side
    if side == "me":
        if shows["sender"] and rng.random() < 0.5:
            named = rng.choice([case.sender.first, case.sender.name])
            return named, named, "other"
        return "I" if prose else rng.choice(["I", "I", "me", "Me"]), "I", side
    if case.pair and side == "you":
        named = one_of(rng, case, rng.choice([contact, case.pair]))
        return named, named, "other"
    if side == "you" and case.subject:
        return case.subject, case.subject, side
    if side == "you":
        if not shows["contact"] or rng.random() < 0.2:
            return "the client" if prose else rng.choice(["client", "the client", "Client"]), "Client", side
        if rng.random() < (0.4 if case.free else 0.2):
            return pronoun(case), contact_of(case), side
        named = (
            f"{contact.title} {contact.last}"
            if shows["title"] and rng.random() < 0.75
            else contact.first
            if shows["first"]
            else f"{contact.title} {contact.last}"
        )
        return named, named, side
    other = rng.choice(case.others)
    named = rng.choice([other.first, other.first, other.name, f"{other.title} {other.last}"])
    return named, named, side


def task(rng: random.Random, case: Case, prose: bool) -> Point:
    """Something that somebody has to do."""
    if case.free and not case.subject and case.free.random() < (0.3 if case.tasks else 0.12):
        return task_of_others(case.free, case, prose)
    text, due = matters.action(rng, case.area), figures.due(rng, case.new_date) if rng.random() < 0.75 else ""
    who, named, side = owner(rng, case, prose)
    if case.free and case.free.random() < 0.4:
        ours = side in ("us", "me") and case.shows["contact"] and not case.pair and case.free.random() < 0.25
        theirs = side == "you" and not case.subject and not case.pair and case.free.random() < 0.35
        text = free_words(case, case.free, OUR_TASKS if ours else CLIENT_TASKS if theirs else TASKS)
    told_text = say(rng, text, **YOU)
    text = say(rng, text, **of_client(case))
    verbal = prose or rng.random() < 0.55
    if who.lower() in ("us", "me") and verbal:
        who = {"us": "we", "me": "I"}[who.lower()]
    plural = who.lower() in ("we", "i")
    verb = rng.choices(["will", "agreed to", "promised to", "offered to", "must", "need", "have"], [70, 7, 6, 3, 6, 4, 4])[0] if verbal else "will"
    after = f" {due}" if due else ""
    said = {"need": "need to" if plural or side == "you" else "needs to", "have": "have to" if plural or side == "you" else "has to"}.get(verb, verb)
    heard = {"need": "need to" if plural else "needs to", "have": "have to" if plural else "has to"}.get(verb, verb)
    owned = capital(contact_of(case) if who == pronoun(case) else {"us": "we", "me": "I"}.get(who.lower(), who))
    present = verb == "will" and verbal and rng.random() < 0.35 and not (who == "I" and rng.random() < 0.5)
    if not verbal:
        comma = f", {rng.choice([due.removeprefix('by '), due])}" if due else ""
        paren = f" ({rng.choice([due.removeprefix('by '), due])})" if due else ""
        form = say(rng, JOTTED_TASKS, who="<who>", Who="<Who>", text=text, Text=capital(text), due=after, comma=comma, paren=paren, pipe="|")
        note = say(rng, form, who=who, Who=capital(who))
        action = say(rng, MARK.sub("", form), who=owned, Who=owned)
    else:
        done = (text if plural else third_person(text)) if present else f"{heard} {text}"
        note, action = f"{who} {done}{after}", f"{owned} {done}{after}"
    told = {"you": "you", "us": "we", "me": "I"}.get(side, named)
    told_in_summary = {"Client": "the client"}.get(named, "we" if side == "us" else named)
    in_summary = heard if plural or side != "you" else {"need": "needs to", "have": "has to"}.get(verb, verb)
    doing = f"{named} {third_person(text)}" if present and side == "other" else ""
    does = "" if not present else text if told_in_summary == "we" else third_person(text)
    point = Point(
        "act",
        note,
        f"{doing or f'{told} {said} {told_text}'}{after}",
        f"{told_in_summary} {does or f'{in_summary} {text}'}{after}",
        action,
    )
    dated = due
    for word in ("by ", "before ", "on "):
        dated = dated.removeprefix(word)
    point.values = [dated] if any(letter.isdigit() for letter in dated) and not dated.startswith("within") else []
    point.names = [named] if named not in ("We", "I", "Client") else []
    if side == "you":
        point.kind = "yours"
    return spoken(rng, point) if prose else point


def task_of_others(rng: random.Random, case: Case, prose: bool) -> Point:
    """Something that somebody else than the client and us has to do."""
    text = free_words(case, rng, TASKS) if rng.random() < 0.6 else matters.action(rng, case.area)
    due = until(rng, figures.due(rng, case.new_date)) if rng.random() < 0.75 else ""
    note, letter, names = assignment(rng, case.others, text, free_words(case, rng, THINGS_TO_DO, named=False), due, prose)
    if case.unmet:
        note, letter = note.replace("<his>", "the"), letter.replace("<his>", "the")
    told = say(rng, note, **of_client(case))
    mine = say(rng, letter, **(of_client(case) if case.pair else YOU))
    dated = DUE.sub("", due)
    values = [dated] if any(letter.isdigit() for letter in dated) and not dated.startswith("within") else []
    return Point("act", told, mine, say(rng, letter, **of_client(case)), capital(told), values, names)


def spoken(rng: random.Random, point: Point) -> Point:
    """The point, in the notes now and then with the short forms of speech; replies write them out."""
    if rng.random() < 0.15:
        point.note = SHORT_FORMS.sub(lambda match: match.group(1) + {"will": "'ll", "would": "'d"}[match.group(2)], point.note)
    return point


def merged(first: Point, second: Point) -> Point:
    """Two points that stand on one line of the notes."""
    action = "\n".join(part for part in (first.action, second.action) if part)
    return Point(
        second.kind, f"{first.note}. {capital(second.note)}", f"{first.letter}. {capital(second.letter)}", f"{first.summary}; {second.summary}", action,
        first.values + second.values, first.names + second.names,
    )  # fmt: skip


DUE = re.compile(r"^(?:by|before|on or before|on|until|no later than|not later than) ")
THINGS_TO_DO = ["<t>", "<n> <n>", "<j> <n>", "<ns>", "<j> <ns>", "<number> <ns>", "<n> <p> <t>", "<d> <n>", "<n> for <t>", "<t> and <t>"]
SHORT_FORMS = re.compile(r"\b(we|We|she|She|he|He|I) (will|would)\b")
JOTTED_TASKS = "{<who> to <text><due>|<who> to <text><due>|<who> to <text><due>|<who>: <text><due>|<who>: <text><due>|<who> - <text><due>|<who>: <text><paren>|<who> – <text><comma>|{action|Action|TODO|To do}: <who> to <text><due>|<Text> (<who><comma>)|<who> → <text><comma>|<who> <pipe> <text><due>|[ ] <who>: <text><due>}"
CLIENT_VERB = re.compile(r"<V:(\w+)>")
# What stands before a task in the notes and not in a list of action items.
MARK = re.compile(r"^(?:action|Action|TODO|To do): |^\[ \] ")
# What reads like something to do and stands in no list of action items: the training has none of it beside tasks.
LIKE_A_TASK = re.compile(r"(?:<he>|we|it was|<party>) (?:agreed to|need<vs> to|decided to|must|<has> to|move<vs>|ask<vs>|agree<vs>|offer<vs>|will) ")
SLOTS = "the be have s f party phas ps paper topic money place unit number year month mis mwas ms".split()
# Parts of the templates below that are phrases of their own.
CLAUSES = {"plan": [*matters.PLANS, *["<act>"] * 25], "fear": matters.FEARS, "question": matters.QUESTIONS, "state": matters.STATES}
PAST = "signed sold bought found lost received returned checked sent cancelled ordered inherited refused approved".split()
TOLD = {
    "client": [
        *matters.STATES_OF_CLIENT,
        *[
            f"<he> {verb} <plan>"
            for verb in """want<vs> to|want<vs> to|would like to|hope<vs> to|plan<vs> to|intend<vs> to|<is> keen to|prefer<vs> to|decided to|refuse<vs> to|expect<vs> to|asked us to|need<vs> to|would rather|agreed to""".split("|")
        ] * 3,
        *[f"<he> {verb} that <fear>" for verb in "fear<vs>|<is> worried|<is> afraid|<is> concerned|said".split("|")] * 3,
        *[f"<he> {verb} <question>" for verb in "asked|asked|want<vs> to know|wanted to know|asked us".split("|")] * 3,
        *[f"<he> {verb} that <state>" for verb in "said|told us|explained|mentioned|confirmed|think<vs>|believe<vs>|reported|claim<vs>|admit<vs>|suspect<vs>".split("|")] * 2,
        *[f"{verb} <him> that <fear>" for verb in "I told|we told|I warned|we explained to".split("|")] * 2,
        *[f"{verb} <him> to <plan>" for verb in "I advised|we advised|we asked|I asked".split("|")] * 3,
        *[f"<he> {verb} <the>" for verb in PAST],
        "<he> paid <amt> on <day>", "<he> offer<vs> <amt>", "<he> want<vs> <amt> for <the>", "<he> received <amt> on <day>", "<he> bought <the> for <amt>", "<his> offer is <amt>", "<he> <has> to pay <amt> by <day>",
        "<he> live<vs> in <place>", "<he> run<vs> a <unit> in <place>", "<he> employ<vs> <number> people", "<he> rent<vs> the <unit> from <party>", "<he> trust<vs> <party>", "<he> lack<vs> <the>", "<he> insist<vs> on <the>", "<he> <was> in <place> on <day>",
        "<he> <was> not told about <the>", "<he> never saw <the>", "<he> <is> moving to <place> in <month>", "<he> <is> buying <the> for <amt>", "<he> <is> selling <the>", "<he> fell out with <party>", "<he> got <the> from <party>", "<his> <unit> needs <the>",
        "<his> <unit> is short of staff", "<his> income was <amt>", "<his> share is worth <amt>", "<he> never heard from <party>", "<he> cannot pay <amt> before <day>", "<he> might accept <amt>", "<he> must answer before <day>",
    ],
    "state": [*matters.STATES, *matters.STATES_WITH_FIGURES, *matters.STATES_WITH_FIGURES],
    "plan": [f"{start} <plan>" for start in "we agreed to|it was agreed to|it was decided to|we decided to|the plan is to|the aim is to|our advice is to|we recommended to|we suggested to".split("|")],
    "fear": ["<fear>", *[f"{start} <fear>" for start in "there is a risk that|one problem is that|the problem is that|we discussed the risk that".split("|")], *[f"{start} <question>" for start in "it is not clear|it is still open|we still have to find out".split("|")]],
    "money": [
        "the <money> <mis> <amt>", "the <money> <mis> <amt>", "the <money> <mis> about <amt>", "the <money> will be <amt>", "the <money> come<ms> to <amt>", "the <money> <mwas> agreed at <amt>", "the <money> <mis> limited to <amt>",
        "the <money> must not exceed <amt>", "we agreed on the <money> of <amt>", "the <money> of <amt> <mis> payable by <day>", "the <money> of <amt> <mis> due on <day>", "the <money> will go from <amt> to <amt2>", "the <money> <mis> <amt> a month",
        "the <money> <mis> <amt> a year", "the <money> rise<ms> to <amt>", "the <money> <mwas> <amt>", "we discussed the <money> of <amt>", "the <money> of <amt> <mwas> paid on <day>",
    ],
    "due": ["<the> <be> due on <day>", "the deadline for <the> is <day>", "<the> must be filed by <day>", "<the> must be in by <day>", "<party> need<ps> <the> by <day>", "we need <the> by <day>", "the deadline is <day>"],
    "next": [
        f"{start} <day>{rest}"
        for start in "the next <meeting> is on|the next <meeting> is on|our next <meeting> is on|the next <meeting> will be on|we meet again on|we will meet again on".split("|")
        for rest in ["", "", " at <clock>", " at <clock>", " at <clock> at our office", " at our office", " in <place>", " by video", " at <clock> by phone"]
    ],
    "hours": ["we have spent <hours> hours so far", "<hours> hours have been used to date", "so far we have spent <hours> hours on this"],
}  # fmt: skip
# A few words in place of a sentence; the replies repeat them as they are.
JOTTED = {
    "state": [
        "<paper> still missing", "<paper> not signed yet", "<paper> overdue", "<paper> sent to <party>", "no answer from <party>", "no <paper> yet", "<party> against it", "<paper> found in <place>", "<unit> making a loss", "two copies of <the>",
        "<party>: <amt>", "offer from <party>: <amt>", "<paper> worth <amt>", "<amt> missing", "<amt> paid on <day>", "turnover <amt>", "<paper> received on <day>", "<paper> expires <day>", "hearing on <day>", "new <paper> from <day>", "<number> people affected",
    ],
    "plan": ["agreed: <plan>", "decision: <plan>", "plan: <plan>", "idea: <plan>", "advice: <plan>", "goal: <plan>", "option: <plan>"],
    "fear": ["risk: <fear>", "problem: <fear>", "concern: <fear>", "careful: <fear>", "open: <question>", "to clarify: <question>", "not clear <question>", "question: <question>"],
    "money": ["<money> <amt>", "<money> <amt>", "<money>: <amt>", "<money>: <amt>", "<money> about <amt>", "<money> approx. <amt>", "<money> max. <amt>", "<money> <amt> a month", "<money> <amt> per year", "<money> from <amt> to <amt2>", "<money> <amt>, due <day>", "<money> of <amt> payable by <day>", "<amt> <money>"],
    "due": ["<paper> due <day>", "<paper> due by <day>", "deadline <paper>: <day>", "deadline for <the>: <day>", "deadline <day>", "<paper>: deadline <day>", "due <day>: <paper>"],
    "next": ["next <meeting> <day>", "next <meeting>: <day>", "next <meeting> <day>, <clock>", "next <meeting>: <day> at <clock>", "next <meeting> on <day> in <place>", "meet again <day>", "follow-up <meeting> <day> at <clock>", "next <meeting> <day>, <clock>, our office"],
    "hours": ["<hours> hours so far", "time spent: <hours> hours", "hours to date: <hours>"],
}  # fmt: skip
