"""How meeting notes look: headings, bullets, telegram style, prose, mails pasted in."""

import random
import re

from .everyday import everyday_word
from .facts import Case, Point, contact_of, merged, new_point
from .strange import made_up
from .words import capital, say, stopped

BULLETS = ["- ", "- ", "- ", "- ", "* ", "• ", "– ", "", "", "-", "> ", "+ "]
OPENINGS = [
    "{I met|We met|Met|Meeting with|Meeting today with|Notes of the meeting with|Today I met|Saw|I saw|We saw} <who><of><on><about>.",
    "{Spoke to|Spoke with|I spoke with|Talked to|Talked with|Conversation with|Sat down with|Discussion with} <who><of><on><about>.",
    "{<who><of> came to see us<on><about>.|<who><of> came in<on><about>.|Visit from <who><of><on><about>.|<who><of> was here<on><about>.|<who><of> dropped by<on><about>.}",
    "{<On>I met <who><of><about>.|<On>we met <who><of><about>.|<On><who><of> came in<about>.}",
]
CALLS = "{Call with <who><of><on><about>.|<who><of> called<on><about>.|Phone call with <who><of><on><about>.|Had <who><of> on the phone<on><about>.|<who><of> rang<on><about>.|Telephone call with <who><of><on><about>.|TC with <who><of><on><about>.|<On><who><of> called<about>.}"
ARTICLE = re.compile(r"\b(?:the|a) (?!late |month|year)")


def telegram(text: str) -> str:
    """The text without its articles, as people write in a hurry."""
    return ARTICLE.sub("", text)


def key_values(rng: random.Random, case: Case) -> list[str]:
    """A head of `key: value` lines."""
    head, shows = [], case.shows
    colon = rng.choice([": ", ": ", ": ", ": ", " - ", " = ", ":\t"])
    who, people = contact_of(case), "{Contact|Client contact|With|Met|Attendee|Participant|Spoke to|Name|contact|Present|Visitor|Contact person}"
    if shows["firm"] and shows["contact"] and rng.random() < 0.4:
        both = rng.choice([f"{case.firm}, {who}", f"{case.firm} ({who})", f"{who}, {case.firm}", f"{who} ({case.firm})", f"{who} / {case.firm}"])
        head.append(say(rng, "{Client|client|Client|With|Met|Present|For}<c><both>", c=colon, both=both))
    else:
        if shows["firm"]:
            head.append(say(rng, "{Client|client|Client name|Company|For|Firm|CLIENT|Mandate|Organisation}<c><firm>", c=colon, firm=case.firm))
        if shows["contact"]:
            present = ", ".join([who, *(other.name for other in case.others)]) if case.free and case.free.random() < 0.15 else who
            head.append(say(rng, people if shows["firm"] else people.replace("{", "{Client|Client|client|Client name|")) + colon + present)
    if shows["topic"]:
        head.append(
            say(
                rng,
                "{Topic|Re|Subject|Matter|Project|About|topic|Case|Reason|RE|Concerns}<c><topic>",
                c=colon,
                topic=f"{case.whose} {case.topic}".strip() if case.whose else rng.choice([case.topic, capital(case.topic)]),
            )
        )
    if shows["date"]:
        head.append(say(rng, "{Date|Date|Meeting date|Meeting|Met on|date|When|Day|DATE|Meeting of}<c><date>", c=colon, date=case.date))
    if shows["sender"]:
        by = case.sender.name + (f", {case.advisers}" if shows["advisers"] else "")
        head.append(
            say(
                rng, "{From|Our side|Adviser|Consultant|Author|Notes by|For us|By|Written by|Responsible|Us|Partner|Sign as}<c><who>", c=colon, who=by
            )
        )
    if rng.random() < 0.4:
        rng.shuffle(head)
    return [rng.choice(["; ", " | ", ", ", " / ", ". "]).join(head)] if rng.random() < 0.14 else head


def named(rng: random.Random, case: Case) -> str:
    """The client and the firm, as a heading names them."""
    shows, who = case.shows, contact_of(case)
    if not shows["contact"]:
        return case.firm
    if not shows["firm"]:
        return who
    return rng.choice(
        [
            f"{who}, {case.firm}",
            f"{who} ({case.firm})",
            f"{case.firm}, {who}",
            f"{who} / {case.firm}",
            f"{who} of {case.firm}",
            f"{case.firm} ({who})",
        ]
    )


def heading(rng: random.Random, case: Case) -> list[str]:
    """One or two lines such as 'Meeting 12 March 2026, Anna Berg, Berg Foods'."""
    shows, who = case.shows, named(rng, case)
    kind = rng.choice(
        ["Meeting", "Meeting", "meeting", "Call", "Notes", "Meeting notes", "Visit", "Conversation", "Phone call", "File note", "MEETING", "Met"]
    )
    case.called = "all" in kind
    dash = rng.choice([" – ", " - ", ", ", ": ", " / ", " | "])
    date = f" {case.date}" if shows["date"] else ""
    on = f" on{date}" if date else ""
    first = say(
        rng,
        "{<kind><date><dash><who>|<kind> with <who><date>|<kind> <who><date>|<kind> with <who><on>|<who><dash><kind><date>}",
        kind=kind,
        date=date,
        on=on,
        dash=dash,
        who=who,
    )
    if date and rng.random() < 0.2:
        first = rng.choice([f"{case.date}{dash}{who}", f"{who}{dash}{case.date}", f"{case.date} {who}"])
        case.called = False
    if case.free and case.free.random() < 0.06:
        first += aside(case.free)
    if case.free and case.free.random() < 0.15:
        first = unusual_heading(case.free, case, dash, who, date)
    head = [rng.choice(["", "", "", "", "# ", "## "]) + first]
    if shows["topic"]:
        topic = say(
            rng,
            "{Re: <topic>|Topic: <topic>|<Topic>|About the <topic>|re <topic>|Subject: <topic>|(<topic>)}",
            topic=case.topic,
            Topic=capital(case.topic),
        )
        if case.whose:
            topic = rng.choice([f"About {case.whose} {case.topic}", f"{capital(case.whose)} {case.topic}", f"about {case.whose} {case.topic}"])
        inline = f"{case.whose} {case.topic}".strip()
        head = [f"{head[0]}{dash}{inline}"] if rng.random() < 0.35 else [*head, topic]
    if shows["sender"]:
        by = case.sender.name + (f" ({case.advisers})" if shows["advisers"] else "")
        if case.free and case.free.random() < 0.35:
            return [
                head[0]
                + case.free.choice([f", for us {by}", f", for us: {by}", f" (for us {by})", f", {by} for us", f", our side {by}", f"; notes: {by}"]),
                *head[1:],
            ]
        head.append(say(rng, "{Notes by <by>|For us: <by>|Author: <by>|Present for us: <by>|Written by <by>|Our side: <by>|Sign as <by>}", by=by))
    return head


def aside(rng: random.Random) -> str:
    """On what occasion or where it was: what a letter leaves out."""
    return say(
        rng,
        "{, | }{after the <n>|after the first day of the <n>|before the <n>|at the <n>|in the <n>|with the <n> people|after the <n> of the <n>}",
        n=everyday_word(rng),
    )


def unusual_heading(rng: random.Random, case: Case, dash: str, who: str, date: str) -> str:
    case.called = rng.random() < 0.5
    how = rng.choice(
        ["phone", "by phone", "video call", "short call", "call"]
        if case.called
        else ["visit", "lunch", "short meeting", "site visit", "at our office"]
    )
    if rng.random() < 0.3:
        case.called, who = (
            False,
            f"{who} ({rng.choice(['owner', 'director', 'chair', 'finance', 'by video', made_up(rng), f'{made_up(rng)} {made_up(rng)}'])})",
        )
        return f"{who}{dash}{case.date}" if date else who
    forms = [f"{how}{dash}{who}{date}", f"{how} with {who}{date}", f"{who}{dash}{how}{date}", f"{how}{date}{dash}{who}"]
    if date:
        forms += [f"{case.date} {how}{dash}{who}", f"{case.date}{dash}{how}{dash}{who}", f"{case.date}: {how} with {who}"]
    return capital(rng.choice(forms))


def opening(rng: random.Random, case: Case) -> str:
    """The head of the notes as prose."""
    shows = case.shows
    who = contact_of(case) if shows["contact"] else case.firm
    of = say(rng, "{ of <firm>| from <firm>| (<firm>)|, <firm>,}", firm=case.firm) if shows["contact"] and shows["firm"] else ""
    on = rng.choice([" on ", " on ", " on ", " "]) + case.date if shows["date"] else ""
    about = (
        f"{rng.choice(['about', 'to discuss', 'regarding', 're', 'concerning', 'on'])} {case.whose or 'the'} {case.topic}" if shows["topic"] else ""
    )
    case.called = rng.random() < 0.25
    template = CALLS if case.called else rng.choice(OPENINGS)
    first = say(rng, template, who=who, of=of, on=on, On=f"On {case.date} " if shows["date"] else "", about=f" {about}" if about else "").replace(
        ",.", "."
    )
    if case.free and not about and case.free.random() < 0.15:
        first = first.removesuffix(".") + aside(case.free) + "."
    if shows["sender"]:
        by = case.sender.name + (say(rng, "{ of <firm>| (<firm>)}", firm=case.advisers) if shows["advisers"] else "")
        first += " " + say(
            rng, "{<by> attended for us.|For us, <by> was present.|Notes by <by>.|<by> was there for us.|Signed: <by>.|Letter from <by>.}", by=by
        )
    return capital(first)


def written(rng: random.Random, case: Case, kinds: list[str], prose: bool) -> list[Point]:
    """The points as this writer puts them; now and then two of them share a line."""
    terse = rng.random() < 0.75
    points = [new_point(rng, case, kind, prose, terse) for kind in kinds]
    if terse and not prose and rng.random() < 0.15:
        for point in points:
            point.note, point.letter, point.summary, point.action = (
                telegram(text) for text in (point.note, point.letter, point.summary, point.action)
            )
    at = rng.randrange(len(points))
    if not prose and at and rng.random() < 0.2 and bool(points[at].action) == bool(points[at - 1].action):
        points[at - 1 : at + 1] = [merged(points[at - 1], points[at])]
    return points


def sentences(points: list[Point]) -> str:
    return " ".join(stopped(capital(point.note)) for point in points)


def halves(rng: random.Random, points: list[Point]) -> list[Point]:
    """The points, now and then two of them in one sentence with a semicolon."""
    at = rng.randrange(len(points))
    if not at or rng.random() > 0.1:
        return points
    one = merged(points[at - 1], points[at])
    one.note, one.letter, one.summary = (
        f"{first}; {second}"
        for first, second in ((getattr(points[at - 1], part), getattr(points[at], part)) for part in ("note", "letter", "summary"))
    )
    return [*points[: at - 1], one, *points[at + 1 :]]


def laid_out(rng: random.Random, points: list[Point]) -> str:
    """Points as bullets, as numbers, or in one line. The entries of a letter begin and end as they do here."""
    kind, notes = rng.random(), [point.note for point in points]
    upper, stop = rng.random() < 0.5, False
    if kind < 0.7:
        bullet, stop = rng.choice(BULLETS), rng.random() < 0.12
        text = "\n".join(bullet + (capital(note) if upper else note) + ("." if stop else "") for note in notes)
    elif kind < 0.84:
        mark = rng.choice([". ", ") ", ". "])
        text = "\n".join(f"{index}{mark}{capital(note) if upper else note}" for index, note in enumerate(notes, 1))
    else:
        join = rng.choice(["; ", "; ", ". ", " / ", " – "])
        upper = join == ". "
        text = join.join(capital(note) if upper else note for note in notes) + rng.choice([".", ""])
    for point in points:
        point.letter = (capital(point.letter) if upper else point.letter) + ("." if stop else "")
    return text


def meeting_notes(rng: random.Random, case: Case, kinds: list[str]) -> tuple[str, list[Point], bool]:
    """The whole input of a letter, a summary or a list of action items; its points; whether they stand in a list."""
    kind = rng.random()
    if kind < 0.45:
        points = written(rng, case, kinds, prose=True)
        if case.free:
            points = halves(case.free, points)
        start = (
            opening(rng, case)
            if rng.random() < 0.55
            else stopped(rng.choice([". ", ", "]).join(heading(rng, case)))
            if rng.random() < 0.6
            else "\n".join(key_values(rng, case))
        )
        if case.free and start[-1] == "." and case.free.random() < 0.1:
            return f"{start[:-1]}: {stopped(points[0].note)} {sentences(points[1:])}".strip(), points, False
        text = f"{start}{rng.choice([' ', ' ', chr(10), chr(10) * 2]) if start[-1] == '.' else chr(10)}{sentences(points)}"
        return text, points, False
    points = written(rng, case, kinds, prose=False)
    if kind < 0.52:
        greeting = say(rng, "{Hi|Hello|Hi all|Dear colleagues|Good morning|Hi team},")
        end = rng.choice(["\n\nBest", "\n\nThanks", "\n\nRegards", ""])
        return f"{greeting}\n\n{opening(rng, case)}\n{laid_out(rng, points)}{end}", points, True
    head = key_values(rng, case) if kind < 0.74 else heading(rng, case) if kind < 0.92 else [opening(rng, case)]
    title = [rng.choice(["Meeting notes", "Notes", "NOTES", "File note", "Minutes", "Internal note"])] if rng.random() < 0.15 and kind < 0.74 else []
    label = [rng.choice(["Notes:", "Points:", "Discussed:", "notes:", "Content:", "Text:", "What was said:"])] if rng.random() < 0.15 else []
    gap = rng.choice(["\n", "\n", "\n\n"])
    return "\n".join(title + head) + gap + "\n".join([*label, laid_out(rng, points)]), points, True
