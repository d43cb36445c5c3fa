"""Other people than the client: what they do and say stays as it is when the client becomes 'you'. For the training alone."""

import random

from .people import MEN, WOMEN, Person, rare_name
from .words import draw, third_person

ROLES = """bank landlord tenant buyer seller insurer court customs authority council owner customer supplier register board club lender broker notary judge inspector valuer auditor builder plumber
electrician architect surveyor agency agent regulator neighbour union school hospital partner cousin investor carrier factory museum team committee accountant bookkeeper lawyer adviser manager foreman
caretaker treasurer secretary chair trustee heir brother sister daughter nephew doctor expert dealer garage printer provider hotel restaurant publisher festival charity parish ministry embassy city state
tax.office other.side works.council pension.fund old.provider new.owner leasing.company payroll.office second.buyer third.bidder opposing.lawyer data.office housing.office former.partner largest.customer
managing.agent estate.agent site.manager night.manager local.accountant head.teacher chief.engineer co-owner sub-tenant""".split()
RELATIVES = "brother sister son daughter wife husband mother father cousin nephew niece partner colleague secretary accountant lawyer bookkeeper assistant foreman tenant neighbour".split()
# About somebody else, and nothing to do.
FACTS = [
    "<r> has no objection", "<r> has confirmed <t><rest>", "<r> has <d> <t><rest>", "<r> has not <d> <t>", "<r> <d> <t><rest>", "<r> <d> <t> and <d> <t>", "<r> offers <sum>", "<r> now offers <sum>", "<r> offered <sum>, later <sum>", "<r> is against <t>", "<r> accepted <t>",
    "<r> asked whether <t> <be> <d>", "<r> asked who <d> <t>", "<r> said that <t> <be> <d>", "<r> is <j>", "<r> looked at <ns> and at <t>", "<r>: <sum>", "<r> knows about <t>", "<r> was told <time>", "<r> lost <xhis> <n> <time>", "<r> was in <place> when <xhe> <d> <t>",
    "<xhis> <n> <be> <d>", "<xhis> <n> was <sum>", "no answer from <r>", "letter from <r>: <t> not <d>", "<r> and <r> <d> <t>", "the <j> <n> of <r> <be> <d>", "<t> belongs to <r>", "<r> paid <sum> <time>", "<r> owes <sum>", "<j> <n> <n> <d>, <n> of <amt> <d>",
    "<j> <n> <d>, <n> of <amt> <d>", "<number> <ns> are <d>: <t>, <t>, and <t>", "<number> of them <d> <time>", "<number> are <p> <t>, <number> are <p> <t>", "<n> at <n>: <sum>", "<n> at stake <sum>", "<n> <d>: <sum>, nothing on <n> or on <ns>", "<ns> from <year> to <year>", "<ns> went out on <day>",
    *["we <d> <t> <time>", "we <d> <t><rest>", "we have <d> <t><rest>", "I <d> <t> <time>", "we <d> <t> and <d> <t>", "<d> with <r>: <t>", "<d> with <r>: <sum> for <share>", "<n> at stake: <sum>", "<n> fee <sum>", "<n> fee <sum>, <t> <d>", "<n> amount <sum>", "<n> cost <sum>, <n> offer <sum>"],
    "<n> on <day> at <clock> at the <n>", "<n> planned for <day> at the <n>", "<n> on <day>, <clock>", "<n> of the <n> on <day> at <clock>", "<n> gone through, <number> <ns>", "what <vs> in case of <n> is still open", "whether <t> <vs> is still open", "it has <number> <ns> and <vs> nothing on <t> or on <t>", "<t> was <d>, the <n> goes to <t>",
    "most of <t> <be> <d>", "most of it <be> <d>", "<number> <ns> <v> <t>, the others <v> <p> <t>", "<j> <n> still <vs> <sum> until <day>", "<r>'s <ns> need <t> by <day>", "it was <d> <time>", "there are <ns> from <year>", "<number> <ns> <v>, the <j> is <number>", "<n> is done", "<n> is over", "<ns> <d>: <sum>", "<n> of <amt> still with <r>", "one <n> since <year>, <number> <p> <t>", "<n> <d> with <r> at <share>", "<n> not <d>, only <t>", "the will was <d> <p> <t>", "<n> runs <number> months, break after <number>",
    "the <n> has its own <n>", "<t> and its <n> <be> <d>", "some <ns> <be> <d>, some not", "few <ns> <be> <d>", "open <n>: <t>", "our <n> to date: <sum>", "our <n> for <t> <be> <sum>", "<n> so far <sum>", "<r> says no", "yes from <r>, no from <r>", "both <v> <t>", "both <ns> <be> <d>",
]  # fmt: skip
# What somebody else does or wants: like something to do, so never beside a list of tasks.
ACTS = [
    "<r> agreed to <sum>", "<r> agreed to <amt> until <day>", "<r> agreed to <v> <t>", "<r> accepts <t><rest>", "<r> accepts <t> and <vs> <sum> <time>", "<r> accepted <t> and <vs> <sum> <time>", "<r> wants <t><rest>", "<r> wants to <v> <t> <time>", "<r> asks for <t>", "<r> asks who <d> <t>",
    "<r> needs <t> by <day>", "<r> needs <t><rest>", "<r> would accept <sum>", "<r> says that <t> <be> <d>", "<r> says <t> <be> <j>", "<r> claims <sum>", "<r> decides <time>", "<r> comes back <time>", "<r> must agree before <t> may be <d>", "<r> must agree, <name> asks <xhim> by <day>", "<r> follows <t>",
    "<r> refuses to <v> <t>", "<r> <vs> <t><rest>", "<r> <vs> <t><rest>", "<r> <vs> <t> <time>", "<r> cannot <v> <t> before <day>", "<r> will <v> <t> <time>", "<r> and <r> <v> <t>", "<r> <vs> <xhis> <n> <time>", "<r> <vs> <t> because <xhe> <vs> <t>", "<r> doubts <t>; <xhe> <vs> <t>", "<xhe> <vs> <t> <time>",
    "then <xhe> <vs> <t>", "instead <xhe> <vs> at least <sum>", "<t> from <xhim> <be> <j>", "<r> says that <xhe> <d> <t> and <vs> <t>", "<r> gets <t> on <day>", "<r> gets <t> <time>", "<ns> <v> <t> <time>", "<ns> <v> <p> <t>", "<ns> arrive on <day>", "<ns> need <number> <ns>", "<ns> complain about <t>",
    "<n> hopes for <t>", "<n> rises to <sum>", "<r> wants <t> <d> by <day>", "the <n>, <name>, <d> <t>", "the <n>, <name>, <vs> <t>", "<name> (<n>) <vs> <t>", "<name> would like to <v> <t>", "<name> prefers <t>, <name> wants <t>", "<r> warns that <t> <be> <d>", "they <v> in <number> weeks", "<r> works for <t> <number> days a week",
]  # fmt: skip
# About the client and somebody else.
CLIENT = [
    "<he> <V> <t> for the case that <she> <V>", "<he> <V:want> <t> for the case that <she> <V>", "<he> <V:ask> <xhim> for <t> <time>", "<he> <V:ask> <xhim> for <sum> by <day>", "<he> <V:ask> <r> for <t> by <day>", "<he> <V:ask> <r> for them by <day>", "<he> <V> them <time>", "<he> <V> it to <his> <n> before <day>",
    "<he> <V:get> <t> from <xhim> by <day>", "<he> <V:speak> to <xhim> before <day>", "<he> <V:speak> to <r> <time>", "<he> <V:decide> by <day>", "<he> <V:decide> <time>", "<he> <V:come> back <time>", "<he> <V:tell> <r> on <day>", "<he> <V:sign> on <day>", "<he> <V:say> <t> was <d> when <she> came in",
    "<he> <V:say> that <xhe> <d> <t>", "<he> <V:think> that <xhis> <n> is worth <amt>", "<he> <V:fear> that <xhe> will <v> <t>", "<he> <has> <ns> that show <xhe> <d> <t>", "<he> asked whether <she> may <v> the <ns> to <his> <ns>: {yes|no|not yet|yes, <t> <time>}", "<he> asked whether <t> may <v> before that: {yes|no}",
    "<he> would like to <v> <t> and asked what that means for <t>", "<he> <is> <d> about <t>, about <sum>", "<he> cannot <v> <t> until <day>", "<r> <vs> that <she> <V> <t>", "<r> says <she> must <v> <t>", "<r> pays <him> <sum>", "<r> wants <him> to <v> <t>", "<r> let <him> <v> <t>", "<he> and <his> <n> <v> <t>",
    "<he> <V> <his> <n> <n> by <day>", "<he> <V> <his> last <number> <ns> on <day>", "<he> <V:ask> <his> <j> <n> for them by <day>", "<he> <V:ask> <his> <n> for <t>", "<he> <V:send> <his> <n> <n> by <day>", "<t> <be> <d>; <she> <V> <t> <time>", "<t> <vs> <sum>; <she> <V> <t> <p> <t>",
    *["<he> <V:do> not want to <v> <t>", "<he> <V:do> not <v> <t><rest>", "<he> <V:do> not want <t><rest>"] * 2, "<he> <V:do> not know whether <t> <be> <d>", "<he> asked whether the <ns> <she> <d> <time> <v> <t>", "<he> asked whether <t> <be> <d>: some are, <she> <V:send> <t>", "<t> <d>, so <she> <V:want> to <v> <t>", "<number> <ns> <d>, <she> <has> one",
    "<t> was <d> that day, <she> <has> the <n>", "the <ns> <she> <d> <time> <be> <d>",
    "<he> <V> with <his> own <n>", "<t> for <him> and <his> <ns>", "<t> with <his> own <n> <p> <share>", "<he> <V:move> <his> <n> to <his> <n>'s <n> and thanked us for <number> years", "<he> <V:keep> the <n> for <number> years", "<he> <V:take> the <j> one", "<he> <V:need> the <n> before <t> and <is> <d> to <v>",
    "we work out where <she> <is> <d> by <day>", "I told <him> to <v> them by <day>", "<he> no longer <V> <t>; <xhe> <vs> <t>", "<he> <V:plan> <t> <time>", "<he> <V:retire> <time>", "<he> <V:want> it <j>", "<he> <is> <number> and <V:want> to <v> <t> to <his> <n> <time>",
]  # fmt: skip
VERBAL = ["will", "will", "will", "must", "has to", "needs to", "should", "is to", "is going to", "promised to", "agreed to", "offered to", "can"]
PLURAL = {"has to": "have to", "needs to": "need to", "is to": "are to", "is going to": "are going to"}


def role(rng: random.Random) -> str:
    """Somebody without a name: 'the bank', 'bank', 'her largest customer' without the 'her'."""
    bare = rng.choice(ROLES).replace(".", " ")
    return bare if rng.random() < 0.45 else f"the {bare}"


def owner(rng: random.Random, others: list[Person]) -> tuple[str, list[str], bool]:
    """Who has to act, the names in it, and whether they are several; `<his>` stands for the client's."""
    names = [rng.choice([other.first, other.first, other.name, f"{other.title} {other.last}"]) for other in others]
    names += [draw(lambda: rare_name(rng) if rng.random() < 0.4 else rng.choice(rng.choice([WOMEN, MEN])), held_out=False)]
    rng.shuffle(names)
    kind = rng.random()
    if kind < 0.45:
        return names[0], names[:1], False
    if kind < 0.55 and len(names) > 1:
        return f"{names[0]} and {names[1]}", names[:2], True
    if kind < 0.66:
        return f"<his> {rng.choice(RELATIVES)} {names[0]}", names[:1], False
    if kind < 0.72:
        return f"<his> {rng.choice(RELATIVES)}", [], False
    return role(rng), [], False


def assignment(rng: random.Random, others: list[Person], text: str, thing: str, due: str, prose: bool) -> tuple[str, str, list[str]]:
    """What somebody else has to do: as the notes put it, as a letter does, and the names in it."""
    who, names, several = owner(rng, others)
    after = f" {due}" if due else ""
    if not prose and rng.random() < 0.5:
        form = rng.choice(["to", ":", ":", ":-", "-"])
        if form == "to":
            return f"{who} to {text}{after}", f"{who} will {text}{after}", names
        if rng.random() < 0.5:
            told = f"{who}: {thing}{after}"
            return told, told, names
        note = f"{who}: {text}{after}" if form != "-" else f"{who} - {text}{after}"
        return note, f"{who} will {text}{after}", names
    if rng.random() < 0.4:
        told = f"{who} {text if several else third_person(text)}{after}"
        return told, told, names
    verb = rng.choice(VERBAL)
    told = f"{who} {PLURAL.get(verb, verb) if several else verb} {text}{after}"
    return told, told, names


def until(rng: random.Random, due: str) -> str:
    """The time limit, now and then with another word before it."""
    return (
        due.replace("by ", rng.choice(["until ", "no later than ", "on or before ", "not later than "]), 1)
        if due.startswith("by ") and rng.random() < 0.12
        else due
    )
