"""How meeting notes look: headings, bullets, telegram style, prose, mails pasted in."""

import random
import re

from .facts import Case, Fact, in_notes
from .words import capital, say, sentence

BULLETS = ["- ", "- ", "- ", "* ", "• ", "– ", "", "", "-", "> ", "o ", "+ "]
NOISE = [
    "coffee and small talk first",
    "good mood",
    "short meeting",
    "all points discussed",
    "see file",
    "(more in the file)",
    "no further questions",
    "meeting lasted an hour",
    "pleasant meeting",
    "file note to follow",
]
OPENINGS = {
    "meeting": "{I met|We met|Met|Meeting with|Notes of the meeting with|Today I met|Saw} <who><of><on><about>.",
    "conversation": "{Spoke to|Spoke with|I spoke with|Talked to|Conversation with} <who><of><on><about>.",
    "call": "{Call with <who><of><on><about>.|<who><of> called<on><about>.|Phone call with <who><of><on><about>.|Had <who><of> on the phone<on><about>.}",
    "visit": "{<who><of> came to see us<on><about>.|<who><of> came in<on><about>.|Visit from <who><of><on><about>.}",
}
ARTICLE = re.compile(r"\b(?:the|a) (?!late |month|year)")


def telegram(text: str) -> str:
    """The text without its articles, as people write in a hurry."""
    return ARTICLE.sub("", text)


def contact_of(case: Case) -> str:
    return f"{case.contact.title} {case.contact.name}" if case.shows["title"] else case.contact.name


def key_values(rng: random.Random, case: Case) -> list[str]:
    """A head of `key: value` lines."""
    head, shows = [], case.shows
    colon = rng.choice([": ", ": ", ": ", " - ", " = ", ":\t"])
    if shows["firm"]:
        head.append(say(rng, "{Client|client|Client name|Company|For|Firm|CLIENT|Mandate}<c><firm>", c=colon, firm=case.firm))
    if shows["contact"]:
        with_firm = f" ({case.firm})" if shows["firm"] and rng.random() < 0.2 else ""
        head.append(
            say(
                rng,
                "{Contact|Client contact|With|Met|Attendee|Participant|Spoke to|Name|contact|Present|Participants|Visitor|Client}<c><who>",
                c=colon,
                who=contact_of(case) + with_firm,
            )
        )
    if shows["topic"]:
        head.append(
            say(
                rng,
                "{Topic|Re|Subject|Matter|Project|About|topic|Case|Reason|RE|Concerns}<c><topic>",
                c=colon,
                topic=rng.choice([case.topic, capital(case.topic)]),
            )
        )
    if shows["date"]:
        head.append(say(rng, "{Date|Meeting date|Meeting|Met on|date|When|Day|DATE|Meeting of}<c><date>", c=colon, date=case.date))
    if shows["sender"]:
        head.append(
            say(
                rng,
                "{From|Our side|Adviser|Consultant|Author|Notes by|For us|By|Written by|Responsible|Us|Partner}<c><who>",
                c=colon,
                who=case.sender.name + (f", {case.advisers}" if shows["advisers"] else ""),
            )
        )
    if rng.random() < 0.4:
        rng.shuffle(head)
    return [rng.choice(["; ", " | ", ", ", " / "]).join(head)] if rng.random() < 0.12 else head


def heading(rng: random.Random, case: Case) -> list[str]:
    """One or two lines such as 'Meeting 12 March 2026, Anna Berg, Berg Foods'."""
    shows = case.shows
    who = ", ".join(([contact_of(case)] if shows["contact"] else []) + ([case.firm] if shows["firm"] else []))
    if shows["contact"] and shows["firm"]:
        who = rng.choice(
            [
                who,
                f"{contact_of(case)} ({case.firm})",
                f"{case.firm}, {contact_of(case)}",
                f"{contact_of(case)} / {case.firm}",
                f"{contact_of(case)} of {case.firm}",
                f"{case.firm} ({contact_of(case)})",
            ]
        )
    kind = rng.choice(
        [
            "Meeting",
            "Meeting",
            "meeting",
            "Call",
            "Notes",
            "Meeting notes",
            "Visit",
            "Conversation",
            "Video call",
            "Phone call",
            "File note",
            "MEETING",
        ]
    )
    case.kind = {
        "Call": "call",
        "Phone call": "call",
        "Video call": "video call",
        "Visit": "visit",
        "Conversation": "conversation",
        "Notes": "",
        "File note": "",
    }.get(kind, "meeting")
    dash = rng.choice([" – ", " - ", ", ", ": ", " / ", " | "])
    date = f" {case.date}" if shows["date"] else ""
    first = say(
        rng,
        "{<kind><date><dash><who>|<kind> with <who><date>|<kind> <who><date>|<kind> with <who><on>|<who><dash><kind><date>}",
        kind=kind,
        date=date,
        on=f" on{date}" if date else "",
        dash=dash,
        who=who,
    )
    if date and rng.random() < 0.15:
        first = f"{case.date}{dash}{who}"
    head = [rng.choice(["", "", "", "# ", "## ", "== "]) + first]
    if shows["topic"]:
        topic = say(
            rng,
            "{Re: <topic>|Topic: <topic>|<Topic>|About the <topic>|re <topic>|Subject: <topic>|(<topic>)}",
            topic=case.topic,
            Topic=capital(case.topic),
        )
        head = [f"{head[0]}{dash}{case.topic}"] if rng.random() < 0.25 else [*head, topic]
    if shows["sender"]:
        by = case.sender.name + (f" ({case.advisers})" if shows["advisers"] else "")
        client = contact_of(case)
        head.append(
            say(rng, "{Notes by <by>|For us: <by>|Author: <by>|Present for us: <by>|Written by <by>|Our side: <by>|by <by>}", by=by)
            if not shows["contact"] or rng.random() < 0.6
            else say(
                rng,
                "{Present: <client> (client), <by> (us)|Present: <client>; for us <by>|Attendees: <client> and, for us, <by>}",
                client=client,
                by=by,
            )
        )
    return head


def opening(rng: random.Random, case: Case) -> str:
    """The head of the notes as prose."""
    shows = case.shows
    who = contact_of(case) if shows["contact"] else case.firm
    of = say(rng, "{ of <firm>| from <firm>| (<firm>)|, <firm>,}", firm=case.firm) if shows["contact"] and shows["firm"] else ""
    on = f" on {case.date}" if shows["date"] else ""
    about = (
        say(rng, "{ about the <topic>| to discuss the <topic>| regarding the <topic>| re <topic>| concerning the <topic>}", topic=case.topic)
        if shows["topic"]
        else ""
    )
    case.kind = rng.choice(list(OPENINGS))
    first = say(rng, OPENINGS[case.kind], who=who, of=of, on=on, about=about)
    if shows["sender"]:
        by = case.sender.name + (say(rng, "{ of <firm>| (<firm>)}", firm=case.advisers) if shows["advisers"] else "")
        first += " " + say(
            rng, "{<by> attended for us.|For us, <by> was present.|Notes by <by>.|These notes were taken by <by>.|<by> was there for us.}", by=by
        )
    return first


def body(rng: random.Random, case: Case, facts: list[Fact], prose: bool) -> list[str]:
    """The points of the notes, one entry each, sometimes with a remark that says nothing."""
    short = not prose and rng.random() < 0.45
    points = [in_notes(rng, fact, case, prose) for fact in facts]
    points = [telegram(point) if short else point for point in points]
    if rng.random() < 0.1:
        points.insert(rng.randint(0, len(points)), rng.choice(NOISE))
    if len(points) > 2 and rng.random() < 0.2:
        at = rng.randrange(len(points) - 1)
        points[at : at + 2] = [points[at] + rng.choice(["; ", ". ", ", ", " - "]) + points[at + 1]]
    return points


def laid_out(rng: random.Random, points: list[str]) -> str:
    """Points as bullets, numbers, one line, or sentences."""
    kind = rng.random()
    if kind < 0.6:
        bullet, upper = rng.choice(BULLETS), rng.random() < 0.4
        return "\n".join(bullet + (capital(point) if upper else point) for point in points)
    if kind < 0.72:
        mark = rng.choice([". ", ") ", ".) "])
        return "\n".join(f"{index}{mark}{capital(point)}" for index, point in enumerate(points, 1))
    if kind < 0.84:
        return rng.choice(["; ", ". ", ", ", " / ", " – ", "; "]).join(points) + rng.choice([".", ""])
    return " ".join(sentence(point) for point in points)


def meeting_notes(rng: random.Random, case: Case, facts: list[Fact]) -> str:
    """The whole input of a letter, a summary or a list of action items."""
    kind = rng.random()
    if kind < 0.28:
        start = opening(rng, case)
        points = [sentence(point) for point in body(rng, case, facts, prose=True)]
        if rng.random() < 0.3:
            return f"{start}\n\n" + " ".join(points)
        return f"{start} " + " ".join(points)
    points = body(rng, case, facts, prose=rng.random() < 0.25)
    if kind < 0.38:
        greeting = say(rng, "{Hi|Hello|Hi all|Dear colleagues|Good morning|Hi team},")
        subject = (
            say(rng, "{Subject: {Meeting|Notes|Call|Our talk}<dash><topic>\n\n|}", dash=rng.choice([" - ", ": "]), topic=case.topic)
            if case.shows["topic"]
            else ""
        )
        end = rng.choice(["\n\nBest", "\n\nThanks", "\n\nRegards", ""])
        return f"{subject}{greeting}\n\n{opening(rng, case)}\n{laid_out(rng, points)}{end}"
    head = key_values(rng, case) if kind < 0.68 else heading(rng, case) if kind < 0.9 else [opening(rng, case)]
    title = (
        [rng.choice(["Meeting notes", "Notes", "NOTES", "File note", "Minutes", "MEMO", "Internal note"])]
        if rng.random() < 0.15 and kind < 0.68
        else []
    )
    label = [rng.choice(["Notes:", "Points:", "Discussed:", "notes:", "Content:", "Text:", "What was said:"])] if rng.random() < 0.2 else []
    gap = rng.choice(["\n", "\n", "\n\n"])
    return "\n".join(title + head) + gap + "\n".join([*label, laid_out(rng, points)])
