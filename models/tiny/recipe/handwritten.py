"""Prompts written one by one, not by the grammar of the corpus, and never trained on.

Each entry: (job, instructions or "", input, names, dates and amounts that a good reply carries, separated by `|`).
"""

WORDED = [
    (
        "letter",
        "You write letters for Harrow & Finch, a two-partner law practice. Turn whatever notes you get into a letter the client can read.",
        "Saw Mrs Okonkwo on 14 May about her late mother's flat. She'd like to let it rather than sell. Rent would be roughly £1,350 a month. I told her the mortgage must be settled first. She is sending the redemption statement before 2 June. We'll look over the head lease.",
        "Okonkwo|14 May|£1,350|2 June",
    ),
    (
        "letter",
        "Please take my scribbles and make a proper letter out of them for Mr Vale.",
        "Vale, Gerald - 3 Sept - pension transfer\nhe is nervous about charges (1.2%)\ntransfer value 186,400 GBP\nhe brings the old scheme booklet on 10 Sept\nwe check the guarantee",
        "Vale|3 Sept|186,400 GBP|10 Sept",
    ),
    (
        "letter",
        "",
        "Write to Ms Dubois for me. We met on 8 January. Her bakery, Le Fournil, needs a second oven and the bank offers 40,000 EUR at 4.1 %. She must give an answer before 20 January. I promised a cash flow plan. Signed: Tom Arden.",
        "Dubois|8 January|40,000 EUR|20 January|Tom Arden",
    ),
    (
        "letter",
        "Letter please, to the client, nothing fancy.",
        "TC with Hana Sato (Sato Ceramics) 22/03/2026. Customs bill $3,870 wrong in her view. Needs the tariff code checked. Us: appeal by 5 April. Her: import papers asap.",
        "Sato|22/03/2026|$3,870|5 April",
    ),
    (
        "letter",
        "Our client came in today; here is what I wrote down. Put it into a letter I can sign (Maren Holt).",
        "Mr Iqbal\n15 October\n- landlord refuses to repair the roof\n- damage so far: £7,200\n- we write to the landlord this week\n- Mr Iqbal takes photos\n- if nothing happens by 1 November we go to court",
        "Iqbal|15 October|£7,200|1 November|Maren Holt",
    ),
    (
        "letter",
        "Act for Brightwell Accountants. Compose the follow-up to our talk with the client.",
        "Client: Nordlicht GmbH, Frau Petra Engel\nWhen: 12.02.2026\nWhat: audit 2025\nStock count went fine. Two leases not in the books yet. Fee stays at 18'500 CHF. Draft report 31.03.2026.",
        "Engel|12.02.2026|18'500 CHF|31.03.2026",
    ),
    (
        "summary",
        "I have to brief my partner in the lift. What happened?",
        "Call with Dr Amara Nwosu, 9 June. Her clinic wants to take on two more doctors. She fears the lease is too small. Landlord offers the floor above for $2,900 a month. Answer needed by 30 June.",
        "Nwosu|9 June|$2,900|30 June",
    ),
    (
        "summary",
        "Give the essence, three sentences at the very most.",
        "Kim Larsen and his brother fell out over the boatyard. Kim offers 220,000 EUR for the other half. The brother wants 300,000 EUR. Next talk 17 August. We draw up a compromise.",
        "Larsen|220,000 EUR|300,000 EUR|17 August",
    ),
    (
        "summary",
        "",
        "Boil this down for me:\n\n4 March, Rosa Delgado, Delgado Tiles\n- two lorries stolen\n- insurer pays only £31,000\n- police report comes by 11 March\n- we complain to the ombudsman",
        "Delgado|4 March|£31,000|11 March",
    ),
    (
        "summary",
        "Short version for the file, thanks",
        "Met Ivo Brankov 2026-05-06. Tax office estimates his income at 96,000 USD because he never filed. He hands in all receipts by 2026-05-20. Penalty 1,500 USD may be waived.",
        "Brankov|2026-05-06|96,000 USD|2026-05-20|1,500 USD",
    ),
    (
        "summary",
        "A colleague missed this meeting. Bring her up to date in a couple of sentences.",
        "Present: Leo Farkas (client), Dana Wise. Subject: moving the payroll. Old provider stops on 31 July. New one costs 12 EUR per head. Dana tests the first run by 15 July.",
        "Farkas|31 July|12 EUR|Dana|15 July",
    ),
    (
        "summary",
        "Digest.",
        "Mrs Yvonne Clarke dropped by on 19 November. Her neighbour built a wall across the path. Surveyor quotes £640. She will decide before 1 December.",
        "Clarke|19 November|£640|1 December",
    ),
    (
        "actions",
        "Who owes what to whom after this meeting?",
        "Meeting on 6 May with Paula Reyes. Paula sends the lease by 12 May. Colin drafts the notice. We phone the landlord before 9 May. Rent is £900.",
        "Paula|12 May|Colin|9 May",
    ),
    (
        "actions",
        "I only need the jobs that came out of it, each on its own line.",
        "Jonas: get three quotes until 4 July\nMarta - speak to HR\nbudget 5,000 EUR\nclient signs the mandate by 1 July",
        "Jonas|4 July|Marta|1 July",
    ),
    (
        "actions",
        "",
        "to-dos from this please\n\nSpoke to Ben Asher about the trust. He'll dig out the deed by Friday. I will check the tax position by 3 October. His sister Ruth has to sign too.",
        "Friday|3 October|Ruth",
    ),
    (
        "actions",
        "Make me a checklist.",
        "12.01. Elif Kaya\n1. Elif uploads bank statements by 19.01.\n2. we reconcile January\n3. Fee 800 CHF\n4. Murat to confirm stock by 25.01.",
        "Elif|19.01.|Murat|25.01.",
    ),
    (
        "actions",
        "What do we still have to do, and what do they?",
        "Grant application for the rowing club. Sam Doyle fills in part B by 8 March. We review the budget by 10 March. Treasurer Nick Ames provides the accounts. Grant is up to £25,000.",
        "Sam Doyle|8 March|10 March|Nick Ames",
    ),
    (
        "actions",
        "pull the follow-ups out of my notes",
        "Talked with Inger Dahl 2 Feb about her visa. Inger: passport scan by 5 Feb. Me: book the embassy slot. Employer (Mr Stone) to write the letter by 12 Feb.",
        "Inger|5 Feb|Stone|12 Feb",
    ),
    (
        "dispute",
        "The message below landed in our inbox. Answer it, calmly.",
        "Hello, your invoice 2207 of 3 April says £1,980. You told me the first hour was free! Please put this right.\nAnita Roy",
        "Roy|2207|3 April|£1,980",
    ),
    (
        "dispute",
        "A customer is cross about money. Write back.",
        "Bill no. 88-14, $5,600. I never asked for a second opinion and I won't pay for it. - Dean Walsh, Walsh Boats",
        "Walsh|88-14|$5,600",
    ),
    (
        "dispute",
        "",
        "How would you reply to this?\n\nDear Ms Holt,\nInvoice INV-3310 (2,450 EUR, dated 11 June) includes travel of 320 EUR. We met online.\nRegards\nLucas Meyer, Meyer Optik",
        "Meyer|INV-3310|2,450 EUR|11 June",
    ),
    (
        "dispute",
        "Write our response. We are prepared to knock off £400.",
        "From: Priya Nair\nYour bill 5591 for £3,200 is far above the estimate of £2,500.",
        "Nair|5591|£3,200|£400",
    ),
    (
        "dispute",
        "Deal with this one please",
        "Client Hugo Brandt (Brandt Tools) says invoice R-2026-017 over CHF 7'300 was already paid on 2 March. Bookkeeping confirms: yes, paid, invoice cancelled.",
        "Brandt|R-2026-017|CHF 7'300|2 March",
    ),
    (
        "dispute",
        "Explain to the client why the amount is right, and stay friendly.",
        "Invoice 4410, 15 August, 1,125 USD. Mrs Lin Zhao asks why it took 9 hours. Records: 9 hours on the share purchase agreement.",
        "Zhao|4410|15 August|1,125 USD|9 hours",
    ),
]
WORDED_OFF_TOPIC = """Compose eight lines on the smell of old books.|Could you whip up a regex that matches postcodes?|My toddler refuses vegetables, any tricks?|What year did the Berlin Wall fall?|If a train leaves at 8 and another at 9, when do they meet?|
Kannst du mir ein Rezept für Apfelstrudel geben?|¿Me ayudas con los deberes de matemáticas?|Is it true that goldfish forget everything?|Sing me happy birthday|17 * 23 = ?|Which is better, tabs or spaces?|Roast me.|
Give my novel's villain a name|How does a fridge keep things cold?|Convert 5 miles to kilometres|def add(a, b): return a - b  # why is this wrong?|I can't sleep.|Name the moons of Jupiter|What's your favourite colour?|Sudo make me a sandwich|
Explain like I'm five: taxes on the moon|Can you book me a taxi for six?|Plan my wedding|Who would win, a bear or a shark?|Sort these numbers: 9, 2, 7|Recommend a podcast|Schreibe eine Ode an den Käse|Traduis « good luck » en italien|What does LOL mean?|
Est-ce qu'il pleut à Brest ?|What is the airspeed of a swallow?|List every prime below fifty|Draft a screenplay scene in a submarine|Solve x^2 - 5x + 6 = 0|How many grams in an ounce?|Tell me who won the match last night|Give me lottery numbers|write css to centre a div|
Are viruses alive?|What rhymes with orange?|Help me pick a guitar|Do you dream?|Act like a cowboy|Was ist die Hauptstadt von Peru?|Write an SQL query that finds duplicate rows|I need a workout for my back|Who painted the ceiling of the Sistine Chapel?|How do magnets work?|
Describe a sunset to a blind person|Please prove that root two is irrational|good afternoon|What are you wearing?|Is water wet?|Make an anagram of "listen"|How do I unclog a sink?|Tell me about the Punic Wars|Can dogs eat grapes?|What happens when I press F5?|
Invent a board game|Spell "necessary" backwards""".replace("\n", "").split("|")
SAMPLE_CLIENTS = [
    (
        "Meeting 12 March 2026 – Anna Berg, Bergson Foods Ltd\n- wants to set up a company in Ireland\n- VAT number needed before May\n- fee fixed at 2,400 EUR\n- Anna sends passport copies by 20 March\n- we prepare the articles of association\n- next call 2 April at 10:00",
        "Berg|12 March 2026|2,400 EUR|20 March|2 April",
    ),
    (
        "Met Mr Daniel Osei on 5 February 2026 about the lease of the shop. The rent goes up to £1,850 per month. He wants to renew for five years. We will write to the landlord by 12 February 2026.",
        "Osei|5 February 2026|£1,850|12 February 2026",
    ),
    (
        "Client: Lakeside Dental\nContact: Dr Mei Tan\nDate: 9 January 2026\nTopic: payroll set-up\n\n- 14 employees, first pay run in February\n- Dr Tan to send the staff list by 16 January 2026\n- monthly fee £320\n- pension provider not chosen yet",
        "Tan|9 January 2026|16 January 2026|£320",
    ),
    (
        "Call with Mrs Eleanor Whitby, 3 March. Her husband's will leaves the house to both sons. She is worried that inheritance tax may become due. House valued at £640,000. She will bring the will on 10 March.",
        "Whitby|3 March|£640,000|10 March",
    ),
    (
        "Tomás Rivera / Rivera Roofing / 18 Feb\nVAT inspection on 4 March\npurchase invoices for 2024 missing\nTomás to find them by 25 Feb\nwe attend the inspection",
        "Rivera|18 Feb|4 March|25 Feb",
    ),
    (
        "Meeting with Ms Ingrid Solberg of Fjord Seafood AS on 21 April 2026 regarding the annual audit. The stock count is complete. The bank confirmation is missing. Audit fee: 85,000 NOK. Accounts due 30 June 2026.",
        "Solberg|21 April 2026|85,000 NOK|30 June 2026",
    ),
    (
        "Notes 2026-02-11\nPresent: Marcus Bell (client), Julia Frey (us)\nRe: redundancy of two drivers\n* consultation must start this month\n* redundancy pay about £9,600\n* Julia drafts the letters by 2026-02-18\n* Marcus speaks to the drivers",
        "Bell|Julia Frey|2026-02-11|£9,600|2026-02-18",
    ),
    (
        "Spoke to Farid Haddad from Haddad Imports. Date: 7 May. He asked whether the late filing penalty of $1,200 can be appealed. Advised to appeal by 21 May. He will send the assessment notice.",
        "Haddad|7 May|$1,200|21 May",
    ),
    (
        "Contact: Ms Clara Jensen\nMatter: purchase of a flat in Leith\nDate: 14/01/2026\nOffer of £285,000 accepted. Survey shows damp in the kitchen. Clara wants the price reduced by £6,000. We write to the seller's solicitor by 19/01/2026. Completion planned for 27/02/2026.",
        "Jensen|14/01/2026|£285,000|£6,000|19/01/2026|27/02/2026",
    ),
    (
        "Meeting 30 January – Peter Novak, Novak Print\nCash is tight, overdraft at £48,000. Bank wants a cash flow forecast by 13 February. Peter to list unpaid invoices. We prepare the forecast. Meet again 10 February, 9:30.",
        "Novak|30 January|£48,000|13 February|10 February",
    ),
    (
        "Yasmin Karimi called on 16 June. Subject access request from a former employee, received 2 June. Answer due 2 July. She will collect the e-mails by 20 June. We draft the reply. Cost about £900.",
        "Karimi|16 June|2 June|2 July|20 June|£900",
    ),
    (
        "Client Green Valley Trust\nTrustee: Mrs Ruth Adeyemi\n4 November 2025\n\nGrant of £50,000 approved by the council. First report due 31 March 2026. Trust needs a separate bank account. Mrs Adeyemi opens it by 1 December 2025.",
        "Adeyemi|4 November 2025|£50,000|31 March 2026|1 December 2025",
    ),
    (
        "Met Henrik Lund on 8 October to discuss the sale of his workshop. Buyer offers 410,000 SEK. Henrik wants at least 450,000 SEK. We will make a counter-offer by 15 October. Keys stay with us.",
        "Lund|8 October|410,000 SEK|450,000 SEK|15 October",
    ),
    (
        "20 Jan 2026, Sofia Marin (Marin Design)\n- contract with agency ends 31 March 2026\n- agency claims €7,500 for unfinished work\n- Sofia never signed the second order\n- we check the contract, reply by 27 Jan 2026",
        "Marin|20 Jan 2026|31 March 2026|€7,500|27 Jan 2026",
    ),
    (
        "Meeting with Graham and Lucy Pryce, 11 September. They want to make a gift of £30,000 to their daughter. Seven-year rule explained. They bring bank statements on 18 September. Our fee: £450 plus VAT.",
        "Pryce|11 September|£30,000|18 September|£450",
    ),
    (
        "Topic: company car policy\nWith: Mr Oliver Grant, Grant Logistics Ltd\nDate: 26 February\nOur side: Nadia Rahman\n1. 12 vans, 3 cars\n2. mileage logs incomplete\n3. Mr Grant to introduce logbooks by 1 April\n4. Nadia sends a template by 3 March",
        "Grant|26 February|Nadia|1 April|3 March",
    ),
    (
        "File note 17 August 2026. Mr Chen Wei is buying a warehouse for CHF 1,250,000. The notary needs the register extract. Deposit of CHF 125,000 payable by 1 September 2026. We review the purchase agreement this week.",
        "Chen Wei|17 August 2026|CHF 1,250,000|CHF 125,000|1 September 2026",
    ),
    (
        "Tenant dispute, Mrs Margaret Doyle, 6 May. Tenant owes three months' rent, €4,350. Mrs Doyle wants to give notice. We draft the notice by 13 May. She sends the lease and a rent statement.",
        "Doyle|6 May|€4,350|13 May",
    ),
    (
        "Attendees: Kofi Mensah (Mensah Solar), Beth Rowe\nDate: Tuesday 3 February\nWarranty claim on 60 panels. Supplier offers $18,000. Kofi wants replacement, not money. Beth to answer the supplier by 10 February.",
        "Mensah|Beth|3 February|$18,000|10 February",
    ),
    (
        "Meeting 28 April, Helen Ashford. Divorce settlement. House to be sold, expected price £520,000. Pension to be shared equally. Helen gets pension statement by 12 May. Mediation on 19 May at 14:00.",
        "Ashford|28 April|£520,000|12 May|19 May",
    ),
    (
        "Client: Atlas Cycling Club\nContact: Luis Ortega\n15 March 2026\nAbout: charitable status\nStatutes need two changes. Members vote on 29 March 2026. Luis sends minutes afterwards. We file the application. Filing fee 150 USD.",
        "Ortega|15 March 2026|29 March 2026|150 USD",
    ),
    (
        "Mrs Akiko Mori came in on 22 July about her late father's estate in Osaka and London. Bank accounts of about £95,000. Two heirs. We apply for probate by 31 August. She gets the death certificate translated.",
        "Mori|22 July|£95,000|31 August",
    ),
    (
        "10.06.2026 Call Stefan Vogel, Vogel Metallbau GmbH\nMachine leasing: 4,300 EUR per month, 48 months\nhe prefers to buy for 175,000 EUR\nwe compare both by 17.06.2026\nhe sends the offers today",
        "Vogel|10.06.2026|4,300 EUR|175,000 EUR|17.06.2026",
    ),
    (
        "Jasmine Okoro, 9 Sept. Wants to trade mark her brand Sunhoney. Search costs £280, filing £370. Logo not final. Jasmine sends the logo by 16 Sept, we file by 23 Sept.",
        "Okoro|9 Sept|£280|£370|16 Sept|23 Sept",
    ),
    (
        "Meeting about late payments – 1 December 2025 – Robert Kessler, Kessler Timber\nThree customers owe 62,000 EUR together. Reminders sent twice. He agrees to start court proceedings. We file the claim by 15 December 2025. Court fee 1,116 EUR.",
        "Kessler|1 December 2025|62,000 EUR|15 December 2025|1,116 EUR",
    ),
    (
        "Met Dr Samuel Price on 13 April. He is moving to Portugal in September. Wants to know where his pension is taxed. We send a memo by 30 April. He provides his tax returns. Fee £1,100.",
        "Price|13 April|30 April|£1,100",
    ),
    (
        "Present: Elena Petrova, Petrova Consulting; Ian Marsh (us)\n19 February 2026\nNew office lease. Landlord asks for a deposit of £12,000. Break clause after three years agreed. Ian checks the service charge by 26 February 2026. Elena signs on 2 March 2026.",
        "Petrova|Ian|19 February 2026|£12,000|26 February 2026|2 March 2026",
    ),
    (
        "Call 24 March, Mr Ahmed Saleh, Saleh Pharmacy. Data breach: a laptop was stolen on 22 March. Regulator must be told by 25 March. We draft the notification today. He lists the affected patients, about 340.",
        "Saleh|24 March|22 March|25 March",
    ),
    (
        "Client: Birch & Moss Interiors. Contact: Fiona Birch. Date: 5 May 2026. Works council wants a written remote work policy. Two days a week is agreed. Fiona comments on our draft by 19 May 2026. Budget £2,000.",
        "Birch|5 May 2026|19 May 2026|£2,000",
    ),
    (
        "Notes from 2 October with Andrei Popescu: loan from his brother, 35,000 RON, no contract. Tax office asks for proof. Andrei gets bank statements by 9 October, we write the loan agreement.",
        "Popescu|2 October|35,000 RON|9 October",
    ),
    (
        "Meeting on 27 January 2026 with Mrs Joan Hartley on the care home fees for her mother. Fees are £1,240 a week. She asked whether the house must be sold. We check the rules by 3 February 2026. She sends the council's letter.",
        "Hartley|27 January 2026|£1,240|3 February 2026",
    ),
    (
        "Liam Byrne – Byrne Brewing – 8 June\nexport to Canada\nduty refund of €5,420 possible\nexport proofs needed for March and April\nLiam: proofs by 22 June\nus: claim by 30 June",
        "Byrne|8 June|€5,420|22 June|30 June",
    ),
    (
        "Annual accounts, Wren Pottery, Ms Alice Wren, 16 January. Turnover £182,300, profit £21,700. Tax bill £4,123 payable by 31 January. She wants to pay in instalments. We call the tax office tomorrow.",
        "Wren|16 January|£182,300|£21,700|£4,123|31 January",
    ),
    (
        "4 March 2026. Victor Almeida wants to sell 25% of Almeida Cork to his manager. Price 90,000 EUR. Payment in three years. Share transfer agreement from us by 20 March 2026. Victor tells the bank.",
        "Almeida|4 March 2026|90,000 EUR|20 March 2026",
    ),
    (
        "Employment – Zoe Martin (Martin Florists) – 12 August\nshop assistant off sick since 3 July\nsick pay £116 per week\nZoe to ask for a doctor's letter by 26 August\nwe send guidance",
        "Martin|12 August|3 July|£116|26 August",
    ),
    (
        "Mr and Mrs Lindgren, 29 May: boundary dispute with neighbour. Surveyor costs 9,500 SEK. Neighbour agrees to share the costs. Survey on 18 June. We keep the file open.",
        "Lindgren|29 May|9,500 SEK|18 June",
    ),
    (
        "Subject: investor round\nClient: Pixelgrove Ltd, Maya Stern\nDate: 20 April 2026\nInvestor offers $750,000 for 15%. Maya wants a smaller share. Term sheet expires 4 May 2026. Omar Aziz reviews it by 24 April 2026.",
        "Stern|20 April 2026|$750,000|4 May 2026|Omar Aziz|24 April 2026",
    ),
    (
        "Visit to Hollow Farm, 7 July. Mr William Tate wants to pass the farm to his son in 2028. Land valued at £1.4m. No partnership agreement exists. We draft one by 1 September. Next meeting 15 September, 11am, at the farm.",
        "Tate|7 July|2028|£1.4m|1 September|15 September",
    ),
    (
        "Phone call Ms Dilara Aydin 11 November: insurer refuses water damage claim of £13,900. Policy wording unclear. She sends photos and the expert report by 18 November. We object by 25 November.",
        "Aydin|11 November|£13,900|18 November|25 November",
    ),
    (
        "Noah Fischer, Fischer & Kraus Architects, 3 June 2026: unpaid final invoice, 27,850 CHF, hotel project. Client says plans were late. Noah collects the e-mails by 10 June 2026. We send a reminder with a deadline of 24 June 2026.",
        "Fischer|3 June 2026|27,850 CHF|10 June 2026|24 June 2026",
    ),
]
SAMPLE_INSTRUCTIONS = [
    "Draft a letter to the client from these meeting notes.",
    "Write the letter to the client about this meeting.",
    "Draft a letter to the client. Use only what the notes say.",
    "Turn these notes into a letter to the client.",
]
