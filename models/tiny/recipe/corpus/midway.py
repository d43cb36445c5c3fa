"""Notes that begin in the middle of the matter and name the client only inside a sentence, if at all; for the training alone."""

import random

from . import matters
from .facts import Case, Point, called_by, new_point
from .notes import halves, laid_out
from .strange import made_up
from .words import capital, say, stopped

EARLIER = ["state", "state", "state", "money", "due", "fear"]
EVENTS = """{{Inspection|Visit|Audit|Hearing|Site visit|Appointment|Viewing|Handover|Workshop|Tax inspection|Mediation|Interview|Closing|Auction} {in <place>|of the <thing>|at the <thing>|}|
{First|Second|Last|Next} day {of the <thing>|in <place>}|Follow-up{| on the <thing>}|News {from <place>|on the <thing>|about the <thing>}}""".replace(
    "\n", ""
)
AT_FIRM = "{Inspection|Visit|Audit|Site visit|Appointment|Handover|Workshop|First day|Hearing|Interview|<made>} {at|at|with|for} <firm>"
THINGS = "court|bank|school|warehouse|office|building|site|factory|shop|practice|archive|museum|farm|port|clinic|lift|roof|bridge|contract|claim|sale|lease|grant".split(
    "|"
)


def midway_notes(rng: random.Random, case: Case, kinds: list[str]) -> tuple[str, list[Point], bool]:
    """The input, its points and whether they stand in a list, as `meeting_notes` gives them."""
    known = rng.random() < 0.93
    case.shows |= {"firm": False, "topic": False, "sender": False, "advisers": False, "contact": known}
    case.called = False
    name(rng, case)
    at = min(rng.choice([0, 0, 1, 1, 1, 2, 3]), len(kinds) - 1) if known else -1
    listed = rng.random() < 0.15 and len(kinds) > 1
    points = [point_at(rng, case, kind, index, at, listed) for index, kind in enumerate(kinds)]
    if listed:
        text = dated(rng, case, [], laid_out(rng, points))
    else:
        points = halves(rng, points) if at != 1 else points
        text = dated(rng, case, points, "")
    return text, points, listed


def name(rng: random.Random, case: Case) -> None:
    """How these notes call the client: 'Ms Berg', 'Anna Berg', 'Ms Anna Berg' or 'Anna'."""
    form = rng.random()
    case.alone = form > 0.85
    case.shows["title"] = form < 0.5
    case.shows["first"] = not 0.1 < form < 0.5


def point_at(rng: random.Random, case: Case, kind: str, index: int, at: int, listed: bool) -> Point:
    """One point: before the client is named nothing about them, then the one that names them, then any."""
    if index > at:
        return new_point(rng, case, kind, not listed, False)
    called = called_by(case, case.contact)
    case.unmet, case.subject = index < at, called if index == at else ""
    while True:
        wanted = rng.choice(EARLIER) if case.unmet else rng.choice(["client", "client", "client", "act"])
        point = new_point(rng, case, wanted, not listed, False)
        named = called in point.note and called not in point.letter
        if named or (case.unmet and point.note.lower() == point.letter.lower()):
            case.unmet, case.subject = False, ""
            return point


def dated(rng: random.Random, case: Case, points: list[Point], listed: str) -> str:
    """The sentences, with the day of the meeting before the first or the second one, or in a word on the occasion."""
    told = [stopped(capital(point.note)) for point in points]
    kind = rng.random()
    if kind < 0.4 or (listed and kind < 0.6):
        case.shows["date"] = False
        if kind < 0.33:
            return " ".join(told) or listed
    case.shows["firm"] = case.shows["firm"] or (kind > 0.75 and rng.random() < 0.4)
    if listed:
        return f"{occasion(rng, case) if kind > 0.75 or not case.shows['date'] else case.date}\n{listed}"
    if kind < 0.4 or kind > 0.75:
        return f"{occasion(rng, case)}. {' '.join(told)}"
    lead = rng.choice([": ", ": ", ". ", " - ", " – ", ", "])
    if kind < 0.62 or len(told) == 1:
        first = points[0].note if lead != ". " and rng.random() < 0.7 else told[0]
        return f"{case.date}{lead}{stopped(first)} {' '.join(told[1:])}".strip()
    second = points[1].note if lead != ". " and rng.random() < 0.7 else told[1]
    return f"{told[0]} {capital(case.date)}{lead}{stopped(second)} {' '.join(told[2:])}".strip()


def occasion(rng: random.Random, case: Case) -> str:
    """'Audit at Berg Foods, 3 May' and the like; a firm in it is the client's."""
    thing, place = rng.choice(THINGS), rng.choice(matters.PLACES)
    text = say(rng, AT_FIRM if case.shows["firm"] else EVENTS, firm=case.firm, place=place, thing=thing, made=capital(made_up(rng))).strip()
    return text + (say(rng, "{, | on |, |: | }<day>{|||| and the day after|, first day|, afternoon}", day=case.date) if case.shows["date"] else "")
