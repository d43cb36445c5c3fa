"""What the cases are about: practice areas with their topics and papers, and the phrases that any area may use."""

import random

from .words import draw, is_held_out, lines, say

# Each area: topics of a meeting, and papers that can be sent, checked, missing or late.
AREAS = {
    "tax": (
        lines("""personal tax return|corporation tax return|tax residence|capital gains on the house|inheritance tax planning|double taxation relief|tax investigation|
        research credit claim|dividend planning|transfer pricing|exit tax|property tax assessment|cryptocurrency gains|withholding tax refund|loss carry-back|late filing penalty"""),
        lines("""tax return|bank statements|dividend vouchers|assessment notice|tax computation|authority form|pension certificate|rental accounts|loss schedule|foreign income summary|
        residence certificate|appeal letter|receipts|mortgage statement"""),
    ),
    "vat": (
        lines(
            """VAT registration|VAT inspection|VAT on exports|partial exemption|one-stop-shop filing|import VAT|VAT group|flat rate scheme|VAT refund claim|VAT on the new building|reverse charge|quarterly VAT return"""
        ),
        lines(
            """VAT return|sales ledger|purchase invoices|export proofs|customs declarations|VAT certificate|reconciliation|turnover figures|registration form|credit notes"""
        ),
    ),
    "audit": (
        lines(
            """annual audit|stock count|interim audit|audit plan|group accounts|going concern review|year-end accounts|internal controls|management letter|grant audit|revenue recognition|lease accounting"""
        ),
        lines(
            """trial balance|stock list|debtor list|fixed asset register|bank confirmations|board minutes|draft accounts|control checklist|lease schedule|representation letter|management report|supplier statements"""
        ),
    ),
    "estate": (
        lines(
            """estate of the late father|will and trust|probate|lasting power of attorney|family trust|gift to the children|succession plan|marriage contract|nursing home fees|guardianship|division of the estate|foundation statutes"""
        ),
        lines(
            """will|death certificate|inventory of assets|trust deed|power of attorney|list of heirs|valuation of the house|insurance policy|family tree|land register extract|savings books|deed of gift"""
        ),
    ),
    "employment": (
        lines(
            """redundancy consultation|dismissal of a driver|settlement agreement|maternity leave|working time dispute|non-compete clause|staff handbook|bonus scheme|whistleblowing complaint|remote work policy|works council|disciplinary hearing|sick pay"""
        ),
        lines(
            """employment contract|settlement offer|time sheets|job description|warning letter|reference letter|staff handbook|consultation letter|pay slips|hearing minutes|holiday records|draft agreement"""
        ),
    ),
    "contracts": (
        lines(
            """supply contract|distribution agreement|terms of sale|software licence|franchise agreement|agency contract|maintenance contract|framework agreement|late delivery claim|warranty claim|non-disclosure agreement|consultancy contract"""
        ),
        lines(
            """draft contract|price list|order confirmation|delivery notes|notice of termination|liability clause|service levels|specification|purchase order|complaint letter|signed copy|terms and conditions"""
        ),
    ),
    "property": (
        lines(
            """office lease|purchase of a flat|sale of the farm|rent review|boundary dispute|planning permission|service charge|lease extension|building defects|mortgage refinancing|sale of the warehouse|easement|tenant deposit|shop lease"""
        ),
        lines(
            """lease|purchase agreement|survey report|land register extract|floor plan|planning file|deposit receipt|rent schedule|energy certificate|photographs|site plan|notice to quit|repair quotes|keys"""
        ),
    ),
    "payroll": (
        lines(
            """payroll set-up|payroll errors|expense policy|company cars|pension contributions|overtime pay|payroll move to a new provider|bonus payments|seasonal staff|wage tax audit|share options|minimum wage check"""
        ),
        lines(
            """payroll file|pay slips|bank details|mileage log|expense claims|overtime list|pension statement|staff list|wage journal|start forms|tax codes|benefit statements"""
        ),
    ),
    "company": (
        lines(
            """company formation|new branch|share transfer|shareholders' agreement|change of directors|merger of two companies|liquidation|capital increase|sale of the business|holding structure|conversion to a limited company|annual general meeting|family buyout"""
        ),
        lines(
            """articles of association|shareholder list|passport copies|business plan|register extract|board resolution|share certificates|bank letter|minutes|proxy|statutes|opening balance sheet|term sheet"""
        ),
    ),
    "privacy": (
        lines(
            """data protection audit|data breach|cookie banner|subject access request|camera surveillance|privacy policy|data transfer to the United States|customer newsletter|processor contract|retention rules|staff monitoring"""
        ),
        lines(
            """privacy notice|record of processing|incident report|consent forms|processor agreement|access log|retention schedule|cookie list|risk assessment|notification form|list of systems"""
        ),
    ),
    "finance": (
        lines(
            """bank loan|cash flow plan|overdraft extension|investment proposal|insolvency risk|debt collection|credit insurance|budget for the next year|grant application|leasing of machines|investor round|cost review|management accounts"""
        ),
        lines(
            """cash flow forecast|loan agreement|budget|bank offer|monthly accounts|order book|investor deck|grant form|security documents|leasing contract|list of debts|reminder letters"""
        ),
    ),
    "it": (
        lines(
            """payroll software|cloud migration|CRM replacement|network upgrade|website relaunch|backup plan|security review|data warehouse|online shop|document archive|accounting software|support contract"""
        ),
        lines(
            """test plan|user list|vendor quotes|backup report|data export|project plan|licence list|access rights|training plan|hosting contract|test report|interface list"""
        ),
    ),
    "insurance": (
        lines(
            """water damage claim|car accident claim|professional indemnity|fire insurance|business interruption|disability pension|liability claim|cyber insurance|health insurance for the staff|theft from the shop"""
        ),
        lines(
            """claim form|police report|repair quote|medical report|insurance policy|expert report|photographs|list of damage|witness statements|premium invoice|refusal letter"""
        ),
    ),
    "operations": (
        lines(
            """warehouse move|supplier review|delivery problems|production plan|fleet renewal|quality complaints|opening of a second shop|price increase|packaging redesign|energy costs|stock reduction|shift plan"""
        ),
        lines(
            """floor plan|supplier list|delivery schedule|price list|shift plan|complaint log|transport quotes|stock report|energy bills|order forecast|checklist|inspection report"""
        ),
    ),
    "charity": (
        lines(
            """annual report of the foundation|charitable status|donation receipts|fundraising campaign|grant agreement|volunteer insurance|bequest|school building project|trustee meeting|merger of two clubs"""
        ),
        lines(
            """annual report|donor list|statutes|grant agreement|receipts|project budget|trustee minutes|activity report|building quotes|bank mandate"""
        ),
    ),
    "family": (
        lines(
            """divorce settlement|child maintenance|custody schedule|pension sharing|sale of the family home|prenuptial agreement|adoption|name change|spousal support|mediation"""
        ),
        lines(
            """marriage certificate|income statements|parenting plan|house valuation|pension statement|draft order|bank statements|school letters|mediation report|asset list"""
        ),
    ),
}
# Topics that a fact may mention in passing: held-out ones are the matter of held-out cases alone.
OPEN_TOPICS = {area: [topic for topic in topics if not is_held_out(topic)] for area, (topics, _) in AREAS.items()}
QUALIFIERS = """|||||| of the <place> branch| for <year>| in <place>| at the <place> site| for the <unit>| of the <unit>"""
PLACES = """Leeds Bristol Dublin Geneva Zurich Basel Vienna Berlin Munich Hamburg Lyon Paris Madrid Porto Milan Turin Oslo Bergen Malmö Aarhus Ghent
Utrecht Prague Warsaw Gdańsk Tallinn Riga Boston Denver Austin Chicago Toronto Halifax Perth Sydney Auckland Nairobi Lagos Accra Mumbai Pune Singapore Osaka
Cardiff Belfast Glasgow Exeter York Kent Cornwall Bern Lugano Graz Linz Cologne Bremen Nantes Lille Seville Bilbao Naples Bari Athens Sofia Split""".split()
UNITS = lines(
    "sales team|workshop|restaurant|bakery|subsidiary|holding company|family company|northern region|night shift|retail shops|second shop|warehouse|clinic|school|hotel|partnership|export business|head office|design studio|nursery"
)
# Words of everyday life, so that copying does not depend on having met the words before.
NOUNS = """apartment apple barn basement battery bicycle billboard boat boiler booking bottle bracelet brick bridge brochure bus cabin camera candle canteen carpet catalogue ceiling
cellar chair chimney cinema clock coat coffee container copper cottage counter crane crate curtain desk diary door drain drawing dress drill driver elevator engine envelope
fabric facade fence ferry festival field filter fishing flooring flower folder forest fountain freezer fridge fuel furniture garage garden gate glass glove guitar gym hall
hammer handbook harbour heater hedge helmet horse hospital hostel ink invention island jacket kiosk kitchen ladder lamp lawn leather letterbox library lift lock lorry
magazine map marble market menu metal mill mirror mobile motor museum office orchard oven paint painting panel paper parking patent pavement photo piano pipe platform
playground pool poster printer pump radio railway recipe ring river road roof rubber sail sample sauna scanner school screen sculpture seat server sewer shed shelf ship
shirt shower sign silver sofa solar stable stadium staircase statue steel stove street sugar studio tablet tank tap taxi tea telephone tent theatre ticket tile
timber toilet tool tower toy tractor trailer train tree truck tunnel tyre umbrella uniform van vase vehicle vineyard wall watch water wedding well wheat wheel window
wine wood wool workshop yacht yard brand cable cargo census charity choir clinic colour contest courier crew dairy delivery exhibition export farm feedback garment harvest
heating import lecture lighting luggage merger mineral mobility music newsletter nursing outlet packaging pension pharmacy plumbing pollen pottery poultry power press prize
product quarry quota rescue retail safety salmon signal software spare summer survey textile tourism traffic transport travel tuition vaccine village visa visitor winter""".split()
ADJECTIVES = """annual black blue broken brown cheap clean cold costly digital double dry early eastern electric empty external extra fast first foreign former free fresh front general
green grey heavy high hidden indoor internal joint large light local long lower main medical mobile modern monthly narrow national new northern old open orange outdoor
plain portable previous private public quick quiet rear red regional rural second separate shared short silver simple single small solid southern special spare steel
strong temporary third upper urban used vacant warm weekly western white whole wide wooden yellow young""".split()
ENDS = """list plan report letter form file certificate contract invoice receipt order record permit photos statement request note offer sketch keys agreement notice claim schedule inventory
booking registration sample proposal survey ticket registrations documents certificates drawings bills records leaflets papers""".split()
SUBJECTS = """dispute purchase sale review project contract claim licence grant lease repair rental permit tender loan insurance inheritance tax closure expansion relocation partnership accident
refund inspection renovation donation audit complaint import export transfer""".split()
PAPER_FORMS = """{|||||||revised |signed |updated |final |draft |original |missing |corrected |new |old |full |certified |quarterly |<year> |<month> |second |first |latest }<paper>{||||||| for <year>| of the <unit>| for <month>| from the bank| from the accountant| for the <place> office}"""
MONTHS = "January February March April May June July August September October November December".split()
PARTIES = lines("""the bank|the landlord|the tax office|HMRC|the auditors|the insurer|the court|the board|the seller|the buyer|the supplier|the tenant|the notary|the other side|the council|the broker|the accountant|
the registrar|the regulator|the pension fund|the works council|the builder|the architect|the surveyor|the IT provider|the trustees|the neighbours|the investors|the union|the opposing lawyer|the bookkeeper|the agent|the customs office|his brother|her sister|the co-owner|the payroll provider""")
VERBS = lines("""send|prepare|check|review|update|draft|sign|collect|correct|complete|confirm|provide|scan|return|file|finish|approve|copy|translate|submit|revise|compare|gather|find|order|upload|forward|reconcile|amend|print|explain|
request|obtain|hand over|go through|look for|deliver|email|post|share|buy|sell|bring|keep|open|replace|measure|rent|test|design|publish|sort|renew|cancel|extend|discuss|settle|adjust|cover|present|file|record|
withdraw|destroy|store|inspect|clean|photograph|estimate|research|negotiate|authorise|verify|arrange|examine|supply|list|promote|number|lodge|certify|notarise|highlight|clarify""")
TO_PARTY = lines("send|forward|submit|return|email|post|explain|hand over|deliver|show")
FREE_ACTIONS = lines("""call <party>|write to <party>|speak to <party> about the <paper>|ask <party> for the <paper>|book a room for <number> people|arrange a site visit|open a bank account|set up a call with <party>|pay the deposit|
register with <party>|appoint a second director|find a replacement|chase <party>|get a quote from <party>|meet <party> in <place>|tell the staff about the <topic>|cancel the old contract|decide on the <paper>|let us know the bank details|
remind <party> about the <paper>|book flights to <place>|check the rules in <place>|talk to <party>|apply for an extension|make an appointment with <party>|pick up the <paper>|list all open invoices|count the stock|answer the letter from <party>|
draw up a timetable|calculate the <money>|negotiate the <money> with <party>|suggest three dates|name a contact person|test the new system|cost the options""")
PLANS = lines("""set up a company in <place>|sell the <place> shop|buy out <party>|hire <number> people|move to <place>|close the <unit>|open an office in <place>|keep the <unit>|reduce the <money>|change the <paper>|appeal the decision|
delay the <topic>|start with the <unit>|file the <paper> early|transfer the shares to the children|renew the lease for <number> years|give notice on the lease|accept the offer|reject the offer|make a counter-offer|go to court|settle out of court|
retire in <year>|bring in an investor|split the business|register the trade mark|use the simplified method|run both systems in parallel|outsource the payroll|pay in <number> instalments|appoint a new manager|extend the contract by <number> months|
postpone the <topic>|divide the costs equally|invest in the <unit>|let the upper floor|repay the loan early|leave the price unchanged|ask <party> for more time|add a break clause|wait for the decision of <party>|get a second opinion|lease <number> vans|
train the staff in <place>|make a gift to the children|set aside money for the <topic>|stop the <topic>|combine the two offices|work four days a week|keep the matter confidential|insure the building|drop the claim""")
STATES = lines("""<the> <be> complete|<the> <be> still missing|<the> <be> ready|<the> <have> arrived|<the> <be> with <party>|<the> <be> overdue|<the> <be> not signed yet|<the> <have> been sent to <party>|<the> <have> been approved by <party>|
<the> contain<s> an error|<the> <have> been filed|<the> <be> out of date|<the> need<s> more work|<the> <be> in good order|<party> <phas> approved <the>|<party> <phas> asked for <the>|<party> <phas> not replied yet|<party> <phas> confirmed receipt|
<party> agree<ps> with the plan|<party> <phas> refused the request|<party> want<ps> more information|<party> <phas> sent the <paper>|<number> people are affected|<number> items are still open|the turnover has fallen|the turnover has doubled|
sales in <place> are growing|the <unit> is making a loss|the <unit> is doing well|business is better than last year|the work is on schedule|the work is two weeks late|nobody has signed <the>|costs are higher than planned|the first draft is finished|
the negotiations with <party> went well|the house is empty|the lease runs until <year>|the company was founded in <year>|<number> staff have left|the machine in <place> is broken|all taxes are paid|the children agree|the shares are held by <party>|
<number> invoices are unpaid|the roof needs repair|the contract ends in <month>|the old system is still in use|<the> <be> too expensive|<the> cost<s> too much|<the> <have> been lost|<the> <have> been ordered|<the> <be> popular with customers|<the> must be replaced|<the> no longer fit<f> the rules|everybody likes <the>|
<party> own<ps> <the>|<party> will inspect <the>|<number> people use <the>|<the> <be> in <place>|<the> <be> free of defects|<the> did not arrive|the family is against the <topic>|<the> work<s> well|there is no <paper>|we have two copies of <the>""")
# States with figures, and states about the client, whom a letter addresses as "you".
STATES_WITH_FIGURES = lines("""<party> offer<ps> <amt> for <the>|<party> want<ps> <amt>|<the> cost<s> <amt>|<party> paid <amt> on <day>|<party> claim<ps> <amt>|<the> <be> worth <amt>|<number> customers owe <amt>|the house is valued at <amt>|<the> cost<s> about <amt>|
<the> expire<s> on <day>|<the> end<s> on <day>|<party> will visit on <day>|<party> sent <the> on <day>|the hearing is on <day>|the contract runs until <day>|the work started on <day>|<the> arrived on <day>|the notice was received on <day>|the members vote on <day>|
turnover was <amt>|profit fell to <amt>|<party> owe<ps> us <amt>|<party> demand<ps> <amt> for <the>|a deposit of <amt> is needed|the damage is <amt>|so far <amt> has been spent|<party> must be told by <day>|the answer is due by <day>|completion is planned for <day>|
an offer of <amt> was accepted|the survey takes place on <day>|<party> refused to pay <amt>|the rent goes up to <amt> on <day>|a reminder for <amt> was sent on <day>|the first instalment of <amt> was paid on <day>|<amt> is missing from the account""")
STATES_OF_CLIENT = lines("""<he> never signed <the>|<he> <has> paid <amt> so far|<his> brother is against it|<he> own<vs> <the>|<he> received <the> on <day>|<his> wife is a partner in the business|<he> prefer<vs> to wait|<he> need<vs> <the> by <day>|<he> <has> lost <the>|<he> move<vs> to <place> in <month>|
<he> <is> not happy with <the>|<he> <has> two children|<his> business partner wants to leave|<he> expect<vs> <amt>|<he> agree<vs> to the plan|<he> doubt<vs> the figures|<his> late mother owned <the>|<he> <is> willing to pay <amt>|<his> accountant made a mistake|<he> cannot find <the>|
<he> <has> already told <party>|<he> earn<vs> <amt> a year|<his> son will take over the <unit>|<he> ask<vs> for a discount|<he> <is> away until <day>|<he> disagree<vs> with <party>|<his> neighbour complains about <the>|<he> need<vs> more time|<he> gave notice on <day>|<his> bank offers <amt>|
<he> think<vs> that <the> <be> too expensive|<he> <is> worried about <the>|<he> <is> worried about the costs|<he> would rather keep <the>|<he> think<vs> <amt> is too much|<he> <has> hired <number> people|<he> owe<vs> <party> <amt>|<he> met <party> on <day>|<his> company lost a customer in <place>""")
FEARS = lines("""<the> may be late|<party> may object|<party> may refuse|a penalty may apply|the costs could rise|the deadline is tight|<the> could be lost|the price may fall|<party> could go to court|key staff may leave|the records are incomplete|
the numbers do not match|<the> may not be valid|the loan may be called in|<party> might ask for more money|the claim may be out of time|tax may become due in <place>|the <unit> could run out of cash|interest rates may rise|the notice period is too short|
the buyer may pull out|the insurance does not cover the <unit>|there is no written agreement with <party>|<party> could leave|the data are not safe|the tenant may stop paying|<the> will not be ready in time|two customers pay late|the permit may take months""")
QUESTIONS = lines("""whether <the> <be> needed|whether <party> must be told|who pays for the <topic>|when the <topic> will be finished|how the <money> is calculated|whether the <money> can be paid in instalments|whether the <money> is deductible|who will sign <the>|
what happens if <party> says no|how long the <paper> must be kept|whether VAT applies|which documents <party> needs|if the <unit> can be sold|how to treat the <money>|whether a lawyer is needed|what the next step is|whether it is too late to appeal|
how soon <party> will answer|whether the <unit> is included|which country taxes the pension|how much the <topic> will cost|who keeps the original|whether the loss can be used""")
MONEY_LABELS = lines("""fixed fee|annual rent|purchase price|deposit|loan|monthly fee|penalty|tax bill|settlement|budget|legal costs|audit fee|hourly rate|retainer|outstanding balance|refund|insurance premium|salary|bonus|dividend|valuation|notary fee|
court fee|credit line|turnover|net profit|expenses|quote|first instalment|redundancy payment|gift|mortgage|share capital|damage|maintenance payment|grant|estimate|cost of the <topic>|price for the <paper>|fee for the <paper>|share of the <unit>""")
NUMBERS = "two three four five six seven eight nine ten 12 15 20 24 30 40 60".split()
SINGULAR_S = {"analysis", "status", "business", "class", "access", "news"}


def is_plural(paper: str) -> bool:
    """Whether the head noun of a phrase such as 'signed pay slips for March' is plural."""
    head = paper.split(" of ")[0].split(" for ")[0].split(" from ")[0].split(" to ")[0]
    last = head.split()[-1] if head else ""
    return last.endswith("s") and last not in SINGULAR_S


def topic(rng: random.Random, area: str, held_out: bool) -> str:
    """What the meeting was about; the bare topic decides the side of the split, a qualifier may follow."""
    made = rng.random() < 0.3
    bare = draw(lambda: say(rng, "{<adjective> |}<noun> <subject>", **everyday(rng)) if made else rng.choice(AREAS[area][0]), held_out)
    return bare + fill(rng, area, rng.choice(QUALIFIERS.split("|")) if " of the " not in bare and " for " not in bare else "")


def area_with(rng: random.Random, held_out: bool) -> str:
    """An area that has a topic on the wanted side of the split."""
    return rng.choice([name for name, (topics, _) in AREAS.items() if any(is_held_out(text) == held_out for text in topics)])


def everyday(rng: random.Random) -> dict[str, str]:
    """Slots for phrases of everyday words, such as 'yellow harbour permit'."""
    return {
        "adjective": rng.choice(ADJECTIVES),
        "noun": rng.choice(NOUNS),
        "noun2": rng.choice(NOUNS),
        "end": rng.choice(ENDS),
        "subject": rng.choice(SUBJECTS),
    }


def paper(rng: random.Random, area: str) -> str:
    """A document of the area without its article, such as 'signed pay slips for March'; often of everyday words instead."""
    if rng.random() < 0.3:
        return say(
            rng,
            "{<adjective> <noun> <end>|<noun> <end>|<noun> <noun2> <end>|<adjective> <end>|<end> for the <noun>|<end> of the <adjective> <noun>}",
            **everyday(rng),
        )
    bare = rng.choice(AREAS[area][1] if rng.random() < 0.75 else AREAS[rng.choice(list(AREAS))][1])
    form = say(rng, PAPER_FORMS if " of " not in bare else "<paper>", paper=bare, **values(rng))
    return form


def values(rng: random.Random) -> dict[str, str]:
    """The slots that need no knowledge of the case."""
    unit = rng.choice(UNITS) if rng.random() < 0.7 else f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"
    return {
        "year": str(rng.randint(2019, 2033)),
        "month": rng.choice(MONTHS),
        "place": rng.choice(PLACES),
        "unit": unit,
        "number": rng.choice(NUMBERS),
    }


def fill(rng: random.Random, area: str, template: str, **known: str) -> str:
    """Fill the slots of a phrase, with its verbs agreeing with the paper or the party that they follow; `known` adds slots."""
    if "<" not in template:
        return template
    document, party = paper(rng, area), rng.choice(PARTIES)
    many, party_many = is_plural(document), party.endswith(("auditors", "trustees", "neighbours", "investors"))
    common = values(rng)
    label = say(rng, rng.choice(MONEY_LABELS), topic=rng.choice(OPEN_TOPICS[area]).split(" of ")[0], paper=document, **common)
    sums = label.split(" for ")[0].endswith(("costs", "expenses"))
    return say(
        rng, template, mis="are" if sums else "is", mwas="were" if sums else "was", ms="" if sums else "s", paper=document, the=f"the {document}", party=party, money=label, topic=rng.choice(OPEN_TOPICS[area]),
        be="are" if many else "is", have="have" if many else "has", s="" if many else "s", f="" if many else "s", phas="have" if party_many else "has", ps="" if party_many else "s", **common, **known,
    )  # fmt: skip


def action(rng: random.Random, area: str) -> str:
    """Something to do, as a verb phrase in its base form."""
    if rng.random() < 0.35:
        return fill(rng, area, rng.choice(FREE_ACTIONS))
    if rng.random() < 0.3:
        return fill(rng, area, f"{rng.choice(TO_PARTY)} the <paper> to <party>")
    return fill(
        rng, area, f"{rng.choice(VERBS)} {rng.choice(['the', 'the', 'the', 'the', 'all', 'a copy of the', 'our', 'the rest of the'])} <paper>"
    )
