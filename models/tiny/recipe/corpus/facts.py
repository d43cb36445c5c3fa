"""The facts of a case, and how each is put in notes, in a letter, in a summary."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from . import figures, matters
from .people import Person, advisers, firm, person
from .words import capital, say, stopped

KINDS = ["act", "dec", "state", "fear", "money", "change", "want", "ask", "due", "next", "hours", "advice"]
WEIGHTS = [34, 10, 14, 8, 15, 3, 10, 6, 8, 9, 3, 6]


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
    kind: str = ""


@dataclass
class Fact:
    """One point of the notes. `called` is how the notes speak of who acts, `owner` how a reply does; `side` says who that
    is: you, me, us or other. `yours` is the text as it is said to the client, where that differs. `in_letter` and
    `in_summary` are the templates of the reply that belong to the wording chosen for the notes: replies mirror the notes,
    so that they vary with them and not by chance."""

    kind: str
    text: str = ""
    yours: str = ""
    called: str = ""
    owner: str = ""
    side: str = ""
    due: str = ""
    amount: str = ""
    second: str = ""
    time: str = ""
    place: str = ""
    mode: str = ""
    in_letter: str = ""
    in_summary: str = ""


def new_case(rng: random.Random, held_out: bool) -> Case:
    area = matters.area_with(rng, held_out)
    shows = {
        "contact": rng.random() < 0.94,
        "firm": rng.random() < 0.72,
        "date": rng.random() < 0.9,
        "topic": rng.random() < 0.85,
        "sender": rng.random() < 0.6,
        "title": rng.random() < 0.5,
    }
    shows["advisers"] = shows["sender"] and rng.random() < 0.45
    shows["firm"] = shows["firm"] or not shows["contact"]
    dates = figures.dates(rng)
    return Case(
        area, matters.topic(rng, area, held_out), firm(rng, held_out), person(rng, held_out), person(rng, held_out), advisers(rng, held_out),
        [person(rng, held_out) for _ in range(rng.choice([0, 1, 1, 2]))], dates(), dates, figures.money(rng), shows,
    )  # fmt: skip


def pronoun(case: Case) -> str:
    return "she" if case.contact.woman else "he"


def owner(rng: random.Random, case: Case) -> tuple[str, str, str]:
    """Who has to act: as the notes call them, as a reply names them, and on which side they are."""
    shows = case.shows
    side = rng.choices(["you", "me", "us", "client", "other"], [34, 16, 20, 10, 22 if case.others else 0])[0]
    if side == "us" or (side == "me" and not shows["sender"] and rng.random() < 0.5):
        return rng.choice(["we", "we", "We", "we"]), "We", "us"
    if side == "client" or (side == "you" and not shows["contact"]):
        return rng.choice(["client", "the client", "Client", "client"]), "Client", "you"
    if side == "me":
        styled = ["I", case.sender.first, case.sender.first, case.sender.name] if shows["sender"] else ["I"]
        called = rng.choice(styled)
        return called, called if called != "I" else case.sender.name if shows["sender"] else "We", side
    if side == "you":
        called = rng.choice(
            [case.contact.first, case.contact.name, pronoun(case)]
            + ([f"{case.contact.title} {case.contact.last}"] * 2 if shows["title"] else [case.contact.first])
        )
        return called, case.contact.name if called == pronoun(case) else called, side
    other = rng.choice(case.others)
    called = rng.choice([other.first, other.first, other.name, f"{other.title} {other.last}"])
    return called, called, side


def new_state(rng: random.Random, case: Case, fact: Fact) -> None:
    """A state of affairs: plain, with a figure, or about the client."""
    kind = rng.random()
    if kind < 0.4:
        fact.text = matters.fill(rng, case.area, rng.choice(matters.STATES))
        return
    template = rng.choice(matters.STATES_WITH_FIGURES if kind < 0.7 else matters.STATES_OF_CLIENT)
    if "<amt>" in template:
        fact.amount = case.new_amount()
    if "<day>" in template:
        fact.due = case.new_date()
    persons = {name: f"<{name}>" for name in ("he", "his", "has", "is", "vs")}
    filled = matters.fill(rng, case.area, template, amt=fact.amount, day=fact.due, **persons)
    he, his = rng.choice([(pronoun(case), "her" if case.contact.woman else "his")] * 2 + [("the client", "the client's")])
    fact.text = say(rng, filled, he=he, his=his, has="has", **{"is": "is", "vs": "s"})
    fact.yours = say(rng, filled, he="you", his="your", has="have", **{"is": "are", "vs": ""})


def new_fact(rng: random.Random, case: Case, kind: str) -> Fact:
    area = case.area
    fact = Fact(kind)
    if kind == "act":
        fact.text, (fact.called, fact.owner, fact.side) = matters.action(rng, area), owner(rng, case)
        fact.due = figures.due(rng, case.new_date) if rng.random() < 0.8 else ""
    elif kind in ("dec", "want", "advice"):
        fact.text = matters.fill(rng, area, rng.choice(matters.PLANS)) if rng.random() < 0.7 else matters.action(rng, area)
    elif kind == "state":
        new_state(rng, case, fact)
    elif kind == "fear":
        fact.text = matters.fill(rng, area, rng.choice(matters.FEARS))
    elif kind == "ask":
        fact.text = matters.fill(rng, area, rng.choice(matters.QUESTIONS))
    elif kind == "due":
        fact.text, fact.due = matters.paper(rng, area), case.new_date()
    elif kind in ("money", "change"):
        fact.text = matters.fill(rng, area, "<money>")
        fact.amount, fact.second, fact.mode = case.new_amount(), case.new_amount(), rng.choice(["is", "is", "is", "cap", "per", "payable"])
        fact.due = case.new_date() if fact.mode == "payable" else ""
        fact.time = rng.choice(["a month", "per month", "a year", "per year", "per quarter"])
    elif kind == "next":
        fact.due, fact.mode = case.new_date(), rng.choice(["meeting", "meeting", "call", "appointment"])
        fact.time = figures.clock(rng) if rng.random() < 0.6 else ""
        fact.place = (
            matters.fill(rng, area, rng.choice(["at our office", "at your office", "by video", "by phone", "in <place>", "at the <unit>", "online"]))
            if rng.random() < 0.35
            else ""
        )
    elif kind == "hours":
        fact.amount = figures.hours(rng)
    return fact


def new_facts(rng: random.Random, case: Case, count: int, tasks: int = 0) -> list[Fact]:
    """Different points in the order of the notes, `tasks` of them at least things to do; the next meeting mostly last."""
    kinds: list[str] = []
    for kind in rng.choices(KINDS, WEIGHTS, k=count):
        kinds.append(kind if kind not in ("next", "hours", "change") or kind not in kinds else "act")
    for at in rng.sample(range(count), min(tasks, count)):
        kinds[at] = "act"
    if rng.random() < 0.85:
        kinds.sort(key=lambda kind: kind == "next")
    if rng.random() < 0.4:
        kinds.sort(key=lambda kind: kind in ("act", "next"))
    return [new_fact(rng, case, kind) for kind in kinds]


def third(phrase: str) -> str:
    """The verb phrase with its verb in the third person: 'send the will' → 'sends the will'."""
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("y") and verb[-2] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "x", "go", "z")) else "s"
    return f"{verb} {rest}".strip()


def tail(*parts: str) -> str:
    return "".join(f" {part}" for part in parts if part)


def bare_due(text: str) -> str:
    return text[3:] if text.startswith("by ") else text


def in_notes(rng: random.Random, fact: Fact, case: Case, prose: bool) -> str:
    """The fact as somebody jots it down, or as a full sentence where the notes are prose."""
    if fact.kind == "act":
        return task_in_notes(rng, fact, prose)
    if fact.kind == "next":
        rest = tail(fact.due, ("at " if rng.random() < 0.5 else "") + fact.time if fact.time else "", fact.place)
        return say(rng, NEXT_PROSE if prose else NEXT_NOTES, mode=fact.mode, rest=rest)
    note, full, fact.in_letter, fact.in_summary = rng.choice(WORDINGS[f"money {fact.mode}" if fact.kind == "money" else fact.kind])
    if fact.yours and not prose and rng.random() < 0.3 and "<they>" not in note:
        return without_subject(fact)
    they = [pronoun(case), pronoun(case), "the client"]
    if case.shows["contact"]:
        they += [case.contact.first, f"{case.contact.title} {case.contact.last}" if case.shows["title"] else case.contact.name]
    return say(
        rng,
        full if prose else note,
        they=rng.choice(they),
        text=fact.text,
        Text=capital(fact.text),
        due=fact.due,
        amount=fact.amount,
        second=fact.second,
        be=be_of(fact.text),
        span=fact.time,
    )


def without_subject(fact: Fact) -> str:
    """The text without 'she' or 'the client' in front, as people jot it down: 'needs more time'."""
    for subject in ("she ", "he ", "the client "):
        if fact.text.startswith(subject):
            return fact.text.removeprefix(subject)
    return fact.text


def task_in_notes(rng: random.Random, fact: Fact, prose: bool) -> str:
    who, due = fact.called, tail(fact.due)
    plural = who in ("we", "We", "I")
    if prose and who.lower() == "client":
        who = "the client"
    kind = rng.choices(["will", "agreed", "must"], [70, 15, 15])[0]
    fact.in_letter = kind
    if fact.side == "us" and kind == "will" and not prose and rng.random() < 0.15:
        return say(rng, "{us|Us|US|our office|Our side}: <text><due>", text=fact.text, due=due)
    paren = f" ({rng.choice(['due ', 'deadline ', '', 'by ']) if fact.due.startswith('by ') else ''}{bare_due(fact.due)})" if fact.due else ""
    comma = f", {rng.choice([bare_due(fact.due), fact.due])}" if fact.due else ""
    return say(rng, TASKS[kind, prose], who=who, text=fact.text, Text=capital(fact.text), due=due, does=fact.text if plural else third(fact.text), paren=paren, comma=comma,
        bar=f" | {bare_due(fact.due)}" if fact.due else "", pipe="|", s="" if plural else "s", has="have" if plural else "has", going="am" if who == "I" else "are" if plural else "is", Due=capital(fact.due))  # fmt: skip


def be_of(text: str) -> str:
    return "are" if matters.is_plural(text) else "is"


TASKS = {
    (
        "will",
        False,
    ): "{<who> to <text><due>|<who> to <text><due>|<who> will <text><due>|<who>: <text><due>|<who> - <text><paren>|<who> <does><due>|{action|Action|AP|TODO|ToDo|To do}{:|} <who>{:| -| to} <text><due>|<Text> (<who><comma>)|<Text> – <who><comma>|<who> → <text><comma>|<who> <pipe> <text><bar>|[ ] <who>: <text><due>}",
    ("agreed", False): "{<who> agreed to <text><due>|<who> promised to <text><due>|<who> offered to <text><due>}",
    ("must", False): "{<who> need<s> to <text><due>|<who> must <text><due>|<who> <has> to <text><due>}",
    ("will", True): "{<who> will <text><due>|<who> will <text><due>|<who> <does><due>|<who> <going> going to <text><due>}",
    ("agreed", True): "{<who> agreed to <text><due>|<who> promised to <text><due>|<who> undertook to <text><due>|<who> offered to <text><due>}",
    ("must", True): "{<who> must <text><due>|<who> <has> to <text><due>|<who> need<s> to <text><due>}",
}
NEXT_NOTES = "{next <mode><rest>|next <mode>:<rest>|follow-up <mode><rest>|Next <mode> on<rest>|<mode> again on<rest>|new <mode>:<rest>|next <mode> is on<rest>}"
NEXT_PROSE = "{the next <mode> is on<rest>|the next <mode> will be on<rest>|we agreed on a further <mode> on<rest>|our next <mode> is on<rest>}"
# Of each kind: in jotted notes, in prose, in the letter, in the summary.
WORDINGS = {
    "dec": [
        (
            "{agreed to|we agreed to|all agreed to|agreed:|OK to} <text>",
            "{we agreed to|everyone agreed to|it was agreed to} <text>",
            "We agreed to <text>",
            "it was agreed to <text>",
        ),
        (
            "{decision:|decided to|decided:|conclusion:|we decided to} <text>",
            "{it was decided to|we decided to|the decision was to} <text>",
            "We decided to <text>",
            "it was decided to <text>",
        ),
        ("{plan is to|plan:|the plan is to} <text>", "{the plan is to|the aim is to} <text>", "The plan is to <text>", "the plan is to <text>"),
    ],
    "want": [
        (
            "{wants to|client wants to|<they> wants to|wish:|goal:} <text>",
            "<they> {wants to|is keen to|asked us to help to} <text>",
            "You want to <text>",
            "the client wants to <text>",
        ),
        (
            "{would like to|<they> would like to|hopes to|<they> hopes to|client would like to} <text>",
            "<they> {would like to|hopes to} <text>",
            "You would like to <text>",
            "the client would like to <text>",
        ),
        (
            "{plans to|intends to|<they> plans to|client intends to|idea:} <text>",
            "<they> {plans to|intends to} <text>",
            "You plan to <text>",
            "the client plans to <text>",
        ),
    ],
    "advice": [
        (
            "{advised to|our advice:|advice -|we advised to|advice:} <text>",
            "{we advised to|our advice is to|I advised the client to} <text>",
            "Our advice is to <text>",
            "our advice is to <text>",
        ),
        (
            "{recommended to|we recommend to|suggested to|we suggested to} <text>",
            "{we recommended to|I recommended to|we suggested to} <text>",
            "Our recommendation is to <text>",
            "our recommendation is to <text>",
        ),
    ],
    "state": [
        ("{|||||status: |update: |FYI |good to know: }<text>", "{|||also, |by the way, }<text>", "<Text>", "<text>"),
        ("{|||}<text>", "<text>", "<Text>", "<text>"),
        (
            "{<they> says|reported that|<they> said|<they> told us} <text>",
            "<they> {said that|reported that|explained that|told us that} <text>",
            "You told us that <text>",
            "the client said that <text>",
        ),
        (
            "{confirmed:|noted that|we noted that|note:} <text>",
            "{we noted that|it is confirmed that|I learned that} <text>",
            "We noted that <text>",
            "we noted that <text>",
        ),
    ],
    "fear": [
        (
            "{risk: <text>|<text> (risk!)|careful: <text>|there is a risk that <text>}",
            "{there is a risk that|we discussed the risk that|I pointed out that} <text>",
            "There is a risk that <text>",
            "there is a risk that <text>",
        ),
        (
            "{worried that|concern:|concerned that|afraid that|fears that|<they> fears} <text>",
            "{<they> is worried that|<they> fears that|<they> is concerned that} <text>",
            "You are concerned that <text>",
            "the client is concerned that <text>",
        ),
        (
            "{problem:|issue -|one problem:} <text>",
            "{one problem is that|the problem is that} <text>",
            "One problem is that <text>",
            "one problem is that <text>",
        ),
    ],
    "ask": [
        (
            "{asked|question:|<they> asked|wants to know|<they> wants to know} <text>",
            "<they> {asked|wants to know|wanted to know} <text>",
            "You asked <text>",
            "the client asked <text>",
        ),
        (
            "{open:|to clarify:|not clear|unclear|need to find out|open question:} <text>",
            "{it is not clear|it is still open|we still have to find out} <text>",
            "It is still open <text>",
            "it is still open <text>",
        ),
    ],
    "due": [
        (
            "{<text> due <due>|<text> due on <due>|<Text> <be> due <due>|<text> <be> due on <due>|<text>: due <due>}",
            "the <text> {<be> due on|must be filed by|must be in by} <due>",
            "The <text> <be> due on <due>",
            "the <text> <be> due on <due>",
        ),
        (
            "{deadline for <text>: <due>|<text>: deadline <due>|<due>: deadline <text>|deadline <text> <due>}",
            "the deadline for the <text> is <due>",
            "The deadline for the <text> is <due>",
            "the deadline for the <text> is <due>",
        ),
    ],
    "money is": [
        (
            "{<text> <amount>|<text>: <amount>|<text> <be> <amount>|<text> = <amount>|<amount> <text>|<Text> of <amount>|<text> - <amount>}",
            "{the <text> <be>|the <text> will be|there is a <text> of|<they> mentioned a <text> of} <amount>",
            "The <text> <be> <amount>",
            "the <text> <be> <amount>",
        ),
        (
            "<text> {agreed at|fixed at|set at} <amount>",
            "{the <text> was set at|the <text> was agreed at|we agreed a <text> of} <amount>",
            "The <text> was agreed at <amount>",
            "the <text> was agreed at <amount>",
        ),
        (
            "<text> {comes to|about|approx.|roughly} <amount>",
            "the <text> {comes to about|is about|will be about} <amount>",
            "The <text> comes to about <amount>",
            "the <text> comes to about <amount>",
        ),
    ],
    "money cap": [
        (
            "{<text> max <amount>|<text> capped at <amount>|<text> not more than <amount>|<text> up to <amount>|max. <amount> <text>|<text> must not exceed <amount>}",
            "the <text> {must not exceed|<be> capped at|may be up to|<be> limited to} <amount>",
            "The <text> <be> limited to <amount>",
            "the <text> <be> limited to <amount>",
        ),
    ],
    "money per": [
        (
            "{<text> <amount> <span>|<text>: <amount> <span>|<amount> <span> <text>|<text> <be> <amount> <span>}",
            "the <text> {<be>|will be|comes to} <amount> <span>",
            "The <text> <be> <amount> <span>",
            "the <text> <be> <amount> <span>",
        ),
    ],
    "money payable": [
        (
            "{<text> <amount> payable by <due>|<text>: <amount>, due <due>|<text> of <amount> due <due>|pay <text> <amount> by <due>|<text> <amount> to be paid by <due>}",
            "the <text> of <amount> {<be> payable by|<be> due on|must be paid by} <due>",
            "The <text> of <amount> <be> payable by <due>",
            "the <text> of <amount> <be> payable by <due>",
        ),
    ],
    "change": [
        (
            "{<text> goes from <amount> to <second>|<text> <amount> -> <second>|<text> changes from <amount> to <second>|<text> now <second> (was <amount>)|<text> from <amount> to <second>}",
            "the <text> {goes|changes} from <amount> to <second>",
            "The <text> changes from <amount> to <second>",
            "the <text> changes from <amount> to <second>",
        ),
    ],
    "hours": [
        (
            "{<amount> hours so far|<amount>h used|time spent: <amount> hours|<amount> hrs logged|hours to date: <amount>|we have used <amount> hours}",
            "{we have spent <amount> hours so far|<amount> hours have been used to date}",
            "We have used <amount> hours so far",
            "we have used <amount> hours so far",
        ),
    ],
}


def in_reply(rng: random.Random, fact: Fact, template: str, text: str) -> str:
    return say(
        rng, template, text=text, Text=capital(text), due=fact.due, amount=fact.amount, second=fact.second, be=be_of(fact.text), span=fact.time
    )


def next_in_reply(fact: Fact) -> str:
    return f"next {fact.mode} is on{tail(fact.due, f'at {fact.time}' if fact.time else '', fact.place)}"


def letter_sentence(rng: random.Random, fact: Fact) -> str:
    """The fact as a sentence of a letter to the client."""
    if fact.kind == "next":
        return stopped(f"Our {next_in_reply(fact)}")
    if fact.kind == "act":
        who = {"you": "You", "us": "We", "me": "I"}.get(fact.side, fact.owner)
        verb = {"will": "will", "agreed": "agreed to", "must": "need to" if fact.side != "other" else "needs to"}[fact.in_letter]
        return stopped(f"{who} {verb} {fact.text}{tail(fact.due)}")
    return stopped(in_reply(rng, fact, fact.in_letter, fact.yours or fact.text))


def summary_clause(rng: random.Random, fact: Fact) -> str:
    """The fact as a clause of a summary, without its full stop."""
    if fact.kind == "next":
        return f"the {next_in_reply(fact)}"
    if fact.kind == "act":
        return f"{ {'We': 'we', 'Client': 'the client'}.get(fact.owner, fact.owner) } will {fact.text}{tail(fact.due)}"
    return in_reply(rng, fact, fact.in_summary, fact.text)


def figures_of(fact: Fact) -> list[str]:
    """The dates, times and amounts of the fact, which every reply that tells it must carry."""
    due = fact.due
    for word in ("by ", "before ", "on "):
        due = due.removeprefix(word)
    dated = due if any(letter.isdigit() for letter in due) and not due.startswith("within") else ""
    values = [fact.amount, dated]
    if fact.kind == "change":
        values.append(fact.second)
    if fact.kind == "next":
        values.append(fact.time)
    return [value for value in values if value]
