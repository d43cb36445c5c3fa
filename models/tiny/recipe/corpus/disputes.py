"""Billing disputes: what a client objects to, what our side has decided, and the reply."""

import random
import re

from . import figures, matters
from .facts import Case, free_words
from .free import FORMS
from .words import capital, say, stopped

# Written in the client's voice; the reply says the same thing back with the persons exchanged.
REASONS = """{the number of hours looks too high|<hours> hours are far too many for {this work|the <paper>}|<we> were charged for {<hours> hours but|<hours> hours, but} {only agreed to|expected no more than|were quoted} <hours2>|<we> never approved the extra work|
<we> did not approve the {work on|charges for} the <paper>|the travel {costs|expenses} were not agreed|the rate of <small> {an hour|per hour} is higher than {agreed|the <small2> in <our> contract|last year}|<we> have {already been billed|been billed twice} for the {same work|<paper>}|
the {discount|reduction} of <small> {is missing|was not applied|that <they> promised is missing}|the <paper> arrived {late|three weeks late|too late to be of use}|the <paper> {was|were} never delivered|two people {came to|attended} {the|a} meeting where one was enough|
VAT {was added by mistake|should not have been charged|was charged at the wrong rate}|the fee was {supposed|meant} to be fixed at <small>|<we> agreed on a fixed fee of <small>|there is no {breakdown|detail} of the {work|hours|charges}|<we> cancelled {the|that} {workshop|meeting|appointment} {in time|on <date>|two days before}|
this work {belongs to|is for} another {project|company|matter}|the invoice is {made out to|addressed to} the wrong company|{the expenses of|an expense item of} <small> {are|is} not explained|<they> charged <small> for {copies|postage|phone calls|travel|a taxi|research|the <paper>}, which {<we> never ordered|was not agreed|<we> do not accept}|
the {estimate|quote} was <small>|the {estimate|quote} of <date> was only <small>|the work on the <paper> was done by a junior at a partner's rate|<we> paid <small> on <date>{| and this is not shown}|the payment of <small> is not {credited|shown|taken into account}|{a mistake|an error} in <their> <paper> cost <us> {time|<small>|more work}|
<we> had to {correct|redo} the <paper> {<ourselves>|on <our> own side}|nobody {told|informed} <us> about {the extra costs|these costs|the new rate}|the work was not finished|the first {meeting|consultation} was {supposed to be free|offered free of charge}|<hours> hours for {a phone call|the <paper>|one meeting} {cannot be right|make no sense|is too much}|
the bill is {much higher|twice as high} than last {year|month|time}|<we> {ended|terminated} the {contract|mandate} on <date>|the {late fee|reminder fee|surcharge} of <small> is {unfair|not justified|unjustified}|<we> never received {the invoice|a reminder|the <paper>}|<they> did not keep to the {budget|limit} of <small>}""".replace(
    "\n", ""
)
CLIENT = {"we": "we", "us": "us", "our": "our", "ourselves": "ourselves", "they": "you", "them": "you", "their": "your"}
REPLY = {"we": "you", "us": "you", "our": "your", "ourselves": "yourselves", "they": "we", "them": "us", "their": "our"}
MAIL = """{I am writing about {invoice|your invoice|bill} <inv><dated> for <amount>. {We think that <why>|In our view, <why>|The problem: <why>|<Why>|It seems that <why>}.|We {received|got} your {invoice|bill} <inv><dated> {for|over|of} <amount>. {<Why>|However, <why>|Unfortunately, <why>|We do not agree, because <why>}.|
I {want to dispute|dispute|object to|contest} {invoice|bill} <inv><dated> (<amount>){. <Why>|, because <why>|. The reason: <why>}.|Your {bill|invoice} <inv><dated> comes to <amount>, but <why>.|{Regarding|Re|Concerning|About} invoice <inv><dated>: we {cannot accept|do not accept|will not pay} <amount>{, because|:| since} <why>.|
{There is a problem with|Something is wrong with|I have a question about|We are not happy with} invoice <inv><dated> {for|of} <amount>{: <why>|. <Why>|, as <why>}.|<amount> for invoice <inv><dated>? <Why>.|{Invoice|Bill} <inv><dated>, <amount>: <why>.}""".replace(
    "\n", ""
)
ENDINGS = "{ Please explain.| Please look into this.| We will not pay until this is resolved.| Please send a corrected invoice.| I expect an answer soon.| Can you check this?| Please correct it.| What went wrong?| We would like a credit note.| Kindly review.||||}"
RECORD = """{Client: <firm>\nContact: <who>\nInvoice: <inv><dated>\nAmount: <amount>\n{Dispute|Reason|Complaint|Objection}: <why>|<who> of <firm> disputes invoice <inv><dated> for <amount>. {Reason: <why>|Client says: <why>|Objection: <why>}.|Dispute from <who> (<firm>) about invoice <inv><dated>, <amount>: <why>|
Invoice <inv><dated>, <amount>\nClient <firm>, <who>\nComplaint: <why>|Billing dispute\n<who>, <firm>\n<inv><dated> - <amount>\n"<Why>"|<who> (<firm>) refuses to pay <amount> for invoice <inv><dated>: "<why>"|- client: <who>, <firm>\n- invoice <inv><dated>\n- amount <amount>\n- objection: <why>|
Invoice: <inv>\nDate: <date0>\nAmount: <amount>\nClient: <who>, <firm>\nPosition of the client: <why>}""".replace("\n|", "|").replace("|\n", "|")
# Reasons that no list has, for the training alone: nobody in them is 'we' or 'you'.
OBJECTIONS = [form for form in FORMS if not re.search(r"\b(?:we|I|our|us)\b", form)]
# What our side has decided: as jotted down, what the reply makes of it, and how the reply closes.
POSITIONS = [
    (
        "{We can offer a credit of <credit>|offer <credit> as a credit|offer a credit of <credit>}",
        "We can offer you a credit of <credit>.",
        "We hope that you can accept this.",
    ),
    (
        "{Credit of <credit> approved|credit note of <credit>|We accept, credit <credit>|give them <credit> back|Partner agrees to a credit of <credit>}",
        "We will issue a credit note of <credit>.",
        "We are sorry for the inconvenience.",
    ),
    (
        "{The charge is correct, <hours3> hours on the <paper>|Our records show <hours3> hours on the <paper>, approved by the client|time sheets: <hours3> hours for the <paper>, all in order|invoice stands, <hours3> hours documented for the <paper>|no credit, <hours3> hours spent on the <paper>}",
        "Our records show <hours3> hours of work on the <paper>, so we believe that the invoice is correct.",
        "Please call us if you would like to talk this through.",
    ),
    (
        "{reduce the invoice to <credit>|New amount: <credit>|we will lower it to <credit>|they only have to pay <credit>|cut to <credit>}",
        "We will reduce the invoice to <credit>.",
        "We are sorry for the inconvenience.",
    ),
    (
        "{corrected invoice over <credit>|send corrected invoice for <credit>|new invoice: <credit>}",
        "We will send you a corrected invoice for <credit>.",
        "We are sorry for the inconvenience.",
    ),
    (
        "{They are right, our mistake, new invoice follows|client is right, we will send a corrected invoice|our error, will be corrected|accept the complaint, issue new invoice}",
        "You are right, and we are sorry for our mistake. A corrected invoice will follow.",
        "Thank you for raising this with us.",
    ),
    (
        "{they can pay in <parts> instalments|instalments: <parts> possible|offer payment in <parts> instalments|agree to <parts> instalments}",
        "We can offer you payment in <parts> instalments.",
        "Please let us know if this suits you.",
    ),
    (
        "{we are checking, answer by <until>|under review until <until>|will answer by <until>|need time until <until> to check}",
        "We are checking this and will answer by <until>.",
        "Thank you for your patience.",
    ),
]
NO_POSITION = (
    "",
    "We will check our records and come back to you. Until then, you do not need to pay the disputed amount.",
    "Thank you for your patience.",
)
# What our side has to say for itself; the reply repeats it.
GROUNDS = """{the <paper> {was|were} {ordered|approved|agreed|delivered|sent} on <date>|the <paper> {was|were} ordered by phone|two meetings were held in <month>|the rate was raised on <date>|the estimate was only a rough figure|the extra work was requested by <party>|travel was agreed in the contract|
some hours were booked twice|the discount was forgotten|the work on the <paper> took <hours3> hours|the rate of <small> is in the contract|the payment of <small> was credited on <date>|the fee of <small> is in line with our terms|the work was done in <place>|the invoice was sent on <date>|
the <paper> had to be done again|<party> asked for the <paper>|the contract was signed on <date>|the meeting lasted longer than planned|the <paper> {was|were} not part of the fixed fee|we worked at the weekend|the reduction was only for <month>}""".replace(
    "\n", ""
)
LABELS = "{Internal|Our position|Note for the reply|Decision|Our side|Note|internal note|Position of the firm|We say|For the reply|Partner}: "
CALL_NOTES = "{{Offer|Suggest|Propose} a call on <day> at <clock>.|Call possible on <day> at <clock>.|suggest call <day>, <clock>}"
CALL = "We suggest a call on <day> at <clock> to talk this through."


def dispute(rng: random.Random, case: Case) -> tuple[str, str, list[str]]:
    """The client's complaint (with our position, mostly), the reply, and what the reply must carry."""
    client, amount = case.contact, case.new_amount(300, 40_000)
    dated = rng.random() < 0.7
    date0 = case.new_date()
    slots = {
        "inv": figures.invoice_number(rng), "amount": amount, "dated": say(rng, "{ of <d>| dated <d>| from <d>|, <d>,}", d=date0) if dated else "", "date0": date0, "firm": case.firm,
        "who": f"{client.title} {client.name}" if case.shows["title"] else client.name, "hours": figures.hours(rng), "hours2": figures.hours(rng), "hours3": figures.hours(rng),
        "small": case.new_amount(50, 3000), "small2": case.new_amount(50, 3000), "credit": case.new_amount(50, 5000), "date": case.new_date(), "until": case.new_date(), "day": case.new_date(),
        "clock": figures.clock(rng), "parts": rng.choice(matters.NUMBERS[:8]), "paper": matters.paper(rng, case.area), "month": rng.choice(figures.MONTHS), "place": rng.choice(matters.PLACES), "party": rng.choice(matters.PARTIES),
    }  # fmt: skip
    chosen = say(rng, REASONS, **{name: f"<{name}>" for name in [*CLIENT, *slots]})
    if case.free and case.free.random() < 0.4:
        chosen = free_words(case, case.free, OBJECTIONS)
    slots["why"], slots["back"] = say(rng, chosen, **slots, **CLIENT), say(rng, chosen, **slots, **REPLY)
    slots["Why"] = capital(slots["why"])
    material, record = complaint(rng, case, slots)
    titled = case.shows["title"]
    position, answer, close = rng.choice(POSITIONS) if rng.random() < 0.72 else NO_POSITION
    ground = stopped(capital(say(rng, GROUNDS, **slots))) if rng.random() < 0.3 else ""
    if ground and not position:
        answer, close = "", "Please call us if you would like to talk this through."
    if position or ground:
        ours = say(rng, position, **slots) + rng.choice([".", ""]) if position else ""
        material += (
            rng.choice(["\n\n", "\n", "\n\n"]) + say(rng, LABELS) + " ".join(part for part in (ground, capital(ours) if ground else ours) if part)
        )
    call = say(rng, CALL, **slots) if rng.random() < 0.2 else ""
    if call:
        material += "\n" + say(rng, CALL_NOTES, **slots)
    signed = f"\n{case.sender.name}" + (f"\n{case.advisers}" if case.shows["advisers"] else "") if case.shows["sender"] else ""
    if signed:
        by = case.sender.name + (f", {case.advisers}" if case.shows["advisers"] else "")
        line = say(rng, "{Sign as <by>|Reply from <by>|From: <by>|Signed by <by>|Our contact: <by>|Adviser: <by>}", by=by)
        material = f"{line}\n{material}" if record and rng.random() < 0.3 else f"{material}\n{line}"
    mentioned = record and "<date0>" in record
    slots["dated"] = f" of {date0}" if dated or mentioned else ""
    first = say(
        rng,
        ("We refer to" if record else "Thank you for your message about")
        + " invoice <inv><dated> for <amount>. You "
        + ("object" if record else "write")
        + " that <back>.",
        **slots,
    )
    answer = " ".join(part for part in (ground, say(rng, answer, **slots)) if part)
    hello = f"Dear {client.title} {client.last}," if titled else f"Dear {client.name},"
    parts = [hello, first, answer, call, close, ("Yours sincerely," if titled else "Kind regards,") + signed]
    reply = "\n\n".join(part for part in parts if part)
    named = [client.last, slots["inv"], amount] + ([case.sender.name] if signed else [])
    figures_told = [
        slots[name]
        for name in ("date0", "credit", "until", "small", "small2", "hours", "hours2", "hours3", "day", "clock", "date")
        if slots[name] in reply and slots[name] in material and len(slots[name]) > 3
    ]
    reply = reply.replace("..", ".")
    return material, reply, named + figures_told


def complaint(rng: random.Random, case: Case, slots: dict[str, str]) -> tuple[str, str]:
    """The dispute as the client's own mail, or as a record of it (whose template is returned too)."""
    if rng.random() < 0.4:
        template = pick_branch(rng, RECORD)
        return say(rng, template, **slots), template
    hello = rng.choice(
        [
            "Hello,",
            "Hi,",
            "Dear Sir or Madam,",
            "Good morning,",
            "To whom it may concern,",
            "Dear team,",
            "Dear all,",
            "Hello there,",
            "",
            "",
            f"Dear {case.sender.name}," if case.shows["sender"] else "",
        ]
    )
    text = say(rng, MAIL, **slots) + say(rng, ENDINGS)
    end = say(
        rng,
        "{Regards,\n<who>\n<firm>|<who>, <firm>|Kind regards\n<who>\n<firm>|Thanks, <who> (<firm>)|Best,\n<who>|Sincerely,\n<who>\n<firm>|<who>\n<firm>}",
        **slots,
    )
    lead = rng.choice(["", "", "", f"From: {slots['who']}, {case.firm}\n", f"Mail from {slots['who']} ({case.firm}):\n"])
    if lead:
        end = rng.choice(["", end])
    join = rng.choice(["\n", "\n\n"])
    return lead + join.join(part for part in (hello, text, end) if part), ""


def pick_branch(rng: random.Random, template: str) -> str:
    """One outermost branch of `{a|b|c}`, left unexpanded."""
    depth, branches, start = 0, [], 1
    for at, letter in enumerate(template):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if (letter == "|" and depth == 1) or (letter == "}" and depth == 0):
            branches.append(template[start:at])
            start = at + 1
    return rng.choice(branches)
