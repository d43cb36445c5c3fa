"""Letters to the client, summaries and lists of action items, each from the points of a case."""

from .facts import Case, Point, contact_of
from .words import capital, stopped


def salutation(case: Case, friendly: bool) -> str:
    if not case.shows["contact"]:
        return f"Dear {case.firm} team," if case.shows["firm"] else "Dear client,"
    if case.pair or case.alone:
        return f"Dear {contact_of(case)},"
    if friendly and case.shows["first"]:
        return f"Dear {case.contact.first},"
    return f"Dear {case.contact.title} {case.contact.last}," if case.shows["title"] else f"Dear {case.contact.name},"


def signature(case: Case, friendly: bool) -> str:
    end = "Best wishes," if friendly else "Yours sincerely," if case.shows["title"] else "Kind regards,"
    if case.shows["sender"]:
        end += f"\n{case.sender.name}" + (f"\n{case.advisers}" if case.shows["advisers"] else "")
    return end


def closing(last: Point) -> str:
    """The last sentence before the greeting follows from the last point."""
    return "We look forward to seeing you." if last.kind == "next" else "Please let us know if you have any questions."


def letter(case: Case, points: list[Point], listed: bool, friendly: bool) -> str:
    """A letter that tells the points in the order of the notes: a list where the notes are one, else a paragraph."""
    on = f" on {case.date}" if case.shows["date"] else ""
    about = f" about {'your' if case.whose else 'the'} {case.topic}" if case.shows["topic"] else ""
    first = ("Thank you for the call" if case.called else "Thank you for meeting with us") + on + about
    if listed and len(points) > 1:
        body = ["We noted these points:", "\n".join(f"- {point.letter}" for point in points)]
    else:
        body = [" ".join(stopped(capital(point.letter)) for point in points)]
    return "\n\n".join([salutation(case, friendly), stopped(first), *body, closing(points[-1]), signature(case, friendly)])


def values_of(case: Case, points: list[Point]) -> list[str]:
    return ([case.date] if case.shows["date"] else []) + [value for point in points for value in point.values]


def required_in_letter(case: Case, points: list[Point], friendly: bool) -> list[str]:
    """Every name, date and amount that the letter must carry."""
    names = [(case.contact.first if friendly and case.shows["first"] else case.contact.last) if case.shows["contact"] else case.firm]
    names += [case.sender.name] if case.shows["sender"] else []
    names += [name for point in points if point.kind != "yours" for name in point.names]
    return names + values_of(case, points)


def summary(case: Case, points: list[Point]) -> str:
    """Two sentences: who met about what, then the points in the order of the notes."""
    on = f" on {case.date}" if case.shows["date"] else ""
    who = contact_of(case) if case.shows["contact"] else case.firm if case.shows["firm"] else "the client"
    of = f" of {case.firm}" if case.shows["contact"] and case.shows["firm"] else ""
    about = f" about {case.whose or 'the'} {case.topic}" if case.shows["topic"] else ""
    first = f"{'We spoke to' if case.called else 'We met'} {who}{of}{on}{about}"
    return f"{stopped(first)} {stopped(capital('; '.join(point.summary for point in points)))}"


def required_in_summary(case: Case, points: list[Point]) -> list[str]:
    names = [case.contact.last] if case.shows["contact"] else [case.firm]
    return names + [name for point in points for name in point.names] + values_of(case, points)


def action_list(points: list[Point], numbered: bool) -> str:
    """One line for each thing to do, as the notes put it: who, what, by when."""
    todo = [entry for point in points if point.action for entry in point.action.split("\n")]
    if not todo:
        return "There are no action items in these notes."
    return "\n".join(f"{index}. {entry}" if numbered else f"- {entry}" for index, entry in enumerate(todo, 1))


def required_in_actions(points: list[Point]) -> list[str]:
    return [value for point in points if point.action for value in [*point.values, *point.names]]
