"""Points that follow no phrase of the other lists: words of everyday life in many orders, for the training alone.

What real notes say cannot be listed; what can be learnt is that a reply repeats it, whatever it is."""

import random
import re
from collections.abc import Callable

from . import matters, others
from .strange import stranger
from .words import say, third_person

NOUNS = """account adviser agent aunt baker bill board book boss boundary box branch budget builder bundle buyer card carpenter cashier chair chapter charity child clerk colleague
committee company condition consent cost cousin crew customer daughter dealer debt decision delay delivery designer detail doctor document draft driver duty employee engineer entry
evening event expert export family farmer father fence figure flat friend furniture garage gap garden goods grain group guest harvest heating hotel house idea import income interest
interview item job journey judge kitchen label landlord lawyer lease lender limit line list load machine mail manager margin market meeting member method milk mistake model month mother
nephew niece nurse objection office operator option outcome output owner paint partner party path payment percentage piece pilot pipe plant plot policy pool post practice premium price prize
producer product profit project proof proposal pump question rate reason refund region register rent repair reply reserve result review road roof route rule salary sale sample saving
scheme school season seat seller service share shareholder shift sister site son source staff stage stall stock storage store street studio study summer supplier supply surplus survey system
target teacher team tenant term test ticket title total town trade trainee transfer treatment trial trip tree truck trustee uncle union unit valley value vehicle village visit visitor wage
wall warehouse water wedding week wife window winter witness worker workshop writer yard year""".split()
PLURAL = [noun for noun in NOUNS if noun[-1] not in "sxyhz"]
ADJECTIVES = """additional angry average bad basic better big calm careful central clear close common complete constant correct current daily deep different difficult direct distant easy
entire equal exact fair false famous fast final fine firm flat formal former fresh friendly full general gentle good great heavy high honest hot huge ideal large last late legal light likely
little local long loose main major mean minor modern monthly narrow natural new next nice normal odd official old only open other outside past perfect personal poor possible present previous
private proper public quick quiet rare ready real recent regional regular right rough rural safe same second secret senior separate serious sharp short simple single slow small soft solid
special steady strange strict strong sudden third tight total true unpaid urgent useful usual vague various wet whole wide wrong young""".split()
VERBS = """accept add admit adopt advise affect allow amend answer appear appoint argue arrive ask assume attend avoid back become begin believe belong block borrow break bring build buy call
cancel carry cause change charge check choose claim clean close collect combine come compare complain complete confirm consider contain continue control cost count cover create cut deal decide
decline deliver demand deny depend describe discuss divide doubt draft drive drop earn employ end enjoy enter escape examine exceed exist expect explain extend face fail feel fight file fill
find finish fit fix follow force forget form gain get give go grow handle hand happen hear help hold hope hurry imagine improve include increase inform insist inspect intend invest invite join
judge jump keep know last launch lead learn leave lend let like limit list live look lose love maintain make manage mark matter mean measure meet mention mind miss move name need notice object
obtain occupy offer open oppose order owe own pack pass pay permit pick place plan play point post prefer prepare present press prevent produce promise propose protect prove provide publish
pull push raise reach read receive recommend record reduce refer regret reject rely remain remember remove rent repair repeat replace reply report represent require resign rest retire return
reveal review run save search see seek seem sell send separate serve settle share show sign speak spend split stand start state stay stop store study succeed suffer suggest supply support suppose
survive suspect take talk teach tell tend test think train transfer travel treat trust try turn understand use value visit vote wait walk want warn waste watch wear win wish withdraw wonder work
worry write""".split()
DONE = """accepted added agreed announced appointed approved arranged asked booked bought broken built called cancelled chosen cleared closed collected confirmed corrected counted covered cut
damaged decided declined delayed deleted delivered done drafted dropped expected extended filed finished fixed forgotten found fulfilled given granted handed heard hired increased informed
insured invited kept known left lent let listed lost made mailed missed moved named needed offered opened ordered owed packed paid planned posted postponed prepared printed promised raised
reached read received recorded reduced refused registered rejected removed rented repaired replaced reported requested reserved returned reviewed saved seen sent settled shared shown signed
sold spent split started stored stopped submitted taken tested told transferred translated used valued viewed voted withdrawn written""".split()
SMALL = "at|to|for|from|with|without|after|before|until|during|under|over|behind|near|against|about|instead of|because of|in|on|by".split("|")
THINGS = "the <n>|the <n>|a <n>|the <j> <n>|the <j> <n>|the <n> <n>|the <n> of the <n>|no <n>|each <n>|both <ns>|<number> <ns>|all <ns>|<n>|<j> <n>|<n> <n>|<ns>|<name>|<place>|<made>|the <made>|the <n> and the <n>|the <made> <n>|all <count> <ns>|the <count> <ns>|<count> <ns>|it|that".split(
    "|"
)
TIMES = "on <day>|until <day>|from <day>|after <day>|since <day>|in <month>|this week|next week|next year|last year|every month|every <number> weeks|twice a year|within <number> days|for <number> years|at <clock>|since <year>|from <year>|<number> days a week|by <day>|by <day>".split(
    "|"
)
SUMS = "<amt>|<amt>|<amt> a month|<amt> a year|about <amt>|<amt> each|<amt> or <amt>|between <amt> and <amt>|up to <amt>|<amt> less|another <amt>|<share>|<share> of <t>|<share> or <amt>".split(
    "|"
)
RESTS = "|||| <p> <t>| <p> <t>| <p> <t>| <time>| <time>|, <t> <p> <t>| and <t>| for <sum>| (<t>)| (<sum>)|, <sum>| but not <t>| if <t> <vs>| as soon as <t> <be> <d>| so that <t> can <v> <t>| because <t> <vs>| <time>, <t> <time>|, then <t>".split(
    "|"
)
FORMS = [
    *["<t> <vs> <t><rest>"] * 4, *["<t> <be> <d><rest>", "<t> <be> <j><rest>", "<t> <be> not <d><rest>", "<t> <d><rest>", "<t> not yet <d><rest>", "<t> would <v> <t><rest>", "<t> can <v> <t><rest>"] * 2,
    "<t> has <d> <t><rest>", "<t> <d> <t><rest>", "<t> to be <d><rest>", "<t> will be <d><rest>", "<t> may not <v><rest>", "<t>: <t><rest>", "<t>: <sum>", "<t>: <sum>, <d> <time>", "<t> <sum>, <t> <sum>", "<t> <time>", "<t> <d> <time>, <t> <d> <time>", "<d>: <t><rest>", "<d> <t><rest>",
    "<t> <vs> <sum><rest>", "<t> <p> <t>", "no <n> without <n>", "nobody <vs> <t><rest>", "only <t> <vs> <t><rest>", "<sum> for <t><rest>", "<t> worth <sum>", "<t> costs <sum> instead of <sum>", "<t> costs <sum>", "<time> <t> <vs> <t>", "<time>: <t><rest>", "nothing <d><rest>", "<t> rather than <t>",
    "<t> <p> <t>: <t> <vs> <t>", "<number> of <number> <ns> <d><rest>", "<t> <vs>, <t> <vs><rest>", "<t> or <t>", "<t>, <t>, <t>", "it <vs> <t><rest>", "they <v> <t><rest>", "one <n> <vs> that <t> <be> <d>", "there is <t><rest>", "there are <ns><rest>", "<t> <be> to be <d> <time>", "<n>, <n> and <n> <d>",
    "<ns> <v> <t><rest>", "<t>, not <t>", "<n> <vs> <t><rest>", "<n> has <d><rest>", "<n> has <d> <t><rest>", "<n> wants <t> <time>", "<name> (<n>) wants <t> <d> <time>", "<name> (<n>) <d> <t>", "<sum> more <time>", "<n> rises, about <sum> more <time>", "<t> <be> ready", "<n> planned for <day>", "<n>: <n> <time> or <n> for <sum>", "<t> comes back <time>", "condition: <t> <time>", "<n>, <n> <d>", "<t> is to be <d> and <t> is <d>", "<ns> are in: <amt>, <amt> and <amt>", "<n>: <amt>, <amt> and <amt>", "<j> <n>: <n> <sum>, <count> months, or <v> for <sum>", "<n> <amt>, <n> <amt>, <n> <amt>", "<n> <d> on <day>, <n> on <day>", "last <n> is <day>", "<n> <d>, last <n> is <day>", "<sum> for <number> months",
]  # fmt: skip
FORMS += others.FACTS
# What reads like something to do, and so never stands beside a list of tasks.
FORMS_OF_ACTS = [*FORMS, *others.ACTS, *others.ACTS]
# Things to do, in their base form.
TASKS = [
    "<v> <t>",
    "<v> <t>",
    "<v> <t>",
    "<v> <t> <p> <t>",
    "<v> <t> <p> <t>",
    "<v> <name> about <t>",
    "<v> <t> and <v> <t>",
    "<v> <p> <t>",
    "<v> the <n> for <t>",
    "<v> the <j> <n>",
    "<v> <t> for <amt>",
    "<v> to <name>",
    "<v> whether <t> <be> <d>",
    "<v> <number> <ns>",
    "<v> the <n>",
    "<v> the <n> of the <n>",
    "<v> <t> (<t>)",
    "<v> <t>, <t> and <t>",
    "<v> it",
    "<v> that",
    "<v> them <p> <t>",
    "<v> both <ns>",
    "<v> it <p> <t>",
    "ask <r> for <t>",
    "ask <r> whether <t> <be> <d>",
    "write to <r> about <t>",
    "tell <r> that <t> <be> <d>",
    "get <t> from <r>",
    "look for <t>",
    "find out what <t> <vs>",
    "have <t> <d>",
    "make <t>",
    "take <t> to <r>",
    "<v> and <v> <t>",
    "<v> <r>",
    "<v> the <n> and the <n>",
    "<v> <ns> and the <n>",
    "<v> <t> on <count> <ns>",
    "<v> how <t> <vs>",
    "work out the <n>",
    "write down what <r> <d>",
    "<v>",
    "<v> no more than <number> <ns> (<sum>)",
]
# Things that our side does for the client.
OUR_TASKS = [
    "<v> <him> <t>",
    "<v> <his> <n>",
    "<v> <his> <n> <p> <t>",
    "<v> <him> about <t>",
    "<v> what <she> <d>",
    "<v> where <she> <is> <d>",
    "<v> <him> and <his> <n>",
    "<v> <t> for <him>",
    "<v> whether <she> may <v> <t>",
]
# Things that the client does with what is theirs.
CLIENT_TASKS = [
    "<v> <his> <n>",
    "<v> <his> <n> <n>",
    "<v> <his> <j> <n>",
    "<v> <t> to <his> <n>",
    "<v> <his> last <number> <ns>",
    "ask <his> <j> <n> for <t>",
    "ask <his> <n> for them",
    "<v> it with <his> <n>",
    "<v> <his> own <n>",
    "<v> <his> <n> and <his> <n>",
]
# The verb stands twice: as the client does it (with its ending) and as 'you' do it.
CLIENT_FORMS = [*["<he> <V> <t><rest>"] * 5, "<he> <V> that <t> <be> <d><rest>", "<he> <V><rest>", "<he> <V> <t> and <V> <t>", "<he> <has> <d> <t><rest>", "<he> <has> not <d> <t><rest>", "<he> <is> <j> and <V> <t>", "<he> <was> <d> <p> <t><rest>", "<he> no longer <V> <t><rest>", "<his> <n> <vs> <t><rest>", "<his> <n> <be> <d><rest>", "<his> <j> <n> <vs> <him> <t>", "<t> <vs> <him> <t><rest>", "<t> was <d> to <him> <time>", "<he> only <V> <t><rest>", "<he> <V> <t> and <V> <t> <time>", "<he> <V> that <she> <V> <t><rest>", "<he> <V> <t> if <she> <V> <t>", "<he> <V> <t> because <she> <V> <t>", "<he> <d> <t> and <has> <d> <t>", "<he> <V> what <she> <d><rest>", "<he> <V> <t> to <self> and <his> <n>", "<he> <V> <his> <n>, which <she> <d> <time>", "<t> <vs> what <she> <d>", "<his> <n> and <his> <n> <v> <t>", "<he> <V> <t> unless <his> <n> <vs> <him>", "<he> <d> <t>, but <she> <has> no <n>", "<t> <d> <him> <time>, <she> <V> <t> <time>", *["<he> <has> <d> <t> and <V> to <v> <t>", "<he> <has> <d> <t> and <V> <t><rest>", "<he> would <v> <his> <n> and <d> what <t> <vs>", "I <v> <him> <t> <time>", "we will <v> <him> <t> <time>", "we <v> <his> <n><rest>", "<he> <V> <his> <j> <n> <time>", "<he> <V> <t> and <his> <n>"] * 2]  # fmt: skip

CLIENT_FORMS += [
    *["<he> <V> <t>", "<he> <V> from <t> <time>", "<he> <V> <t> <p> <t> <time>"] * 2, "<he> <V> <t>, which <vs> <t>", "<he> asked whether <t> may <v> <t>: {yes|no}", "<he> asked if <t> <be> <d>: {yes|no}, <t> <be> <j>",
    "<he> asked whether <she> may <v> <t>: {yes|no|yes, at <sum>}", "<he> asked what that <vs>: <sum>", "<he> asked what <t> means for <t>", "<he> <V> <t> and thanked us for <t>", "<he> <V> <t>, but <t> <be> <j><rest>", "<he> said <t> <d> <t> when <she> <d> <t>",
    "<he> <V:want> <t> <j>", "I told <him> that <t> <vs> <t>", "<he> <V:need> <t> before <t> and <is> <d> to <v>", "<he> <V> and <V> <t>", "<he> <V> <sum> for <t>",
    "instead <he> <V> <t><rest>", "then <he> <V> <t><rest>", "in <month> <he> <V> <t>", "<he> <V> <t>, <V> <t> <p> <t>", "<he> <V> <p> <t>, <V> for <t> <time>", "until then <he> <V> <t>", "<he> <V> <t> and <she> <V> <t>", "<t> <vs> <t> and <she> <V> <t>",
    "<he> <V:want> <t> from us: <sum>", "<he> <V> <t> <time>: <sum>", "<his> <n> would like to <v> <t>", "<he> <is> <d> and <has> no <n>",
]  # fmt: skip
CLIENT_FORMS += others.CLIENT * 2
# About the client, and still nothing to do: what is over, wished or the case.
SETTLED = [
    "<he> <has> <d> <t><rest>", "<he> <has> not <d> <t><rest>", "<he> <d> <t> <time>", "<he> <d> <t><rest>", "<he> <was> <d> <p> <t>", "<his> <n> <be> <d><rest>", "<his> <n> <vs> <t>", "<t> was <d> to <him> <time>", "<he> wants <t><rest>", "<he> would like to <v> <t>",
    "<he> hopes to <v> <t> <time>", "<he> prefers to <v> <t>", "<he> asked whether <t> <be> <d>", "<he> plans to <v> <t>", "<he> knows <t> <p> <t>", "<he> fears that <t> <vs> <t>", "<he> is afraid of <t>", "<name> <d> <t> <time>", "<name> has <d> <t>", "<name> wants <t>", "<he> no longer needs <t>",
]  # fmt: skip


SLOT = re.compile(r"<(?!V:|he>|she>|his>|him>|self>|has>|is>|was>)(\w+)>")
AN = re.compile(r"\ba (?=[aeio])")


def free_text(
    rng: random.Random,
    forms: list[str],
    day: Callable[[], str],
    amount: Callable[..., str],
    clock: Callable[[], str],
    name: str,
    third: tuple[str, str, str],
) -> str:
    """A text with all its slots filled, but for those of the client's person and `<V:verb>`, where the client's verb stands.
    Without a name, none is in it; `third` is what somebody else than the client is called: 'he', 'him', 'his'."""
    things = [thing for thing in THINGS if name or thing != "<name>"]
    drawn = {
        "n": lambda: stranger(rng) if rng.random() < 0.2 else rng.choice(NOUNS),
        "j": lambda: stranger(rng) if rng.random() < 0.1 else rng.choice(ADJECTIVES),
        "ns": lambda: rng.choice(PLURAL) + "s",
        "v": lambda: stranger(rng) if rng.random() < 0.08 else rng.choice(VERBS),
        "vs": lambda: third_person(rng.choice(VERBS)),
        "V": lambda: f"<V:{stranger(rng) if rng.random() < 0.12 else rng.choice(VERBS)}>",
        "d": lambda: rng.choice(DONE),
        "p": lambda: rng.choice(SMALL),
        "be": lambda: rng.choice(["is", "is", "was", "are", "were"]),
        "t": lambda: rng.choice(things),
        "rest": lambda: rng.choice(RESTS),
        "time": lambda: rng.choice(TIMES),
        "sum": lambda: rng.choice(SUMS),
        "made": lambda: stranger(rng),
        "count": lambda: str(rng.choice([rng.randint(2, 40), rng.randint(2, 400)])),
        "year": lambda: str(rng.randint(2015, 2031)),
        "number": lambda: rng.choice(matters.NUMBERS),
        "place": lambda: rng.choice(matters.PLACES),
        "month": lambda: rng.choice(matters.MONTHS),
        "name": lambda: name,
        "r": lambda: others.role(rng),
        "xhe": lambda: third[0],
        "xhim": lambda: third[1],
        "xhis": lambda: third[2],
        "share": lambda: f"{rng.randint(1, 99)}{rng.choice(['', '.5', '.1', f'.{rng.randint(1, 99)}'])}{rng.choice([' %', '%', ' percent'])}",
        "day": day,
        "amt": amount,
        "clock": clock,
    }
    text = say(rng, rng.choice(forms), **{name: f"<{name}>" for name in [*drawn, "he", "she", "his", "him", "self", "has", "is", "was"]})
    while found := SLOT.search(text):
        text = text[: found.start()] + drawn[found.group(1)]() + text[found.end() :]
    return AN.sub("an ", text)
