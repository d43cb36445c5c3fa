"""How people ask for the four jobs: composed of parts, in many tones, now and then with a slip of the finger."""

import random
import re

from .people import advisers
from .words import capital, say

PLEASE = "{||||Please |please |Could you {please |}|Can you {please |}|I need you to |Kindly |I'd like you to |You should |Your task: |Task: |Hi, please |Now |Your job is to |It is your task to }"
LETTER_VERB = "{write|draft|compose|prepare|create|produce|formulate|make|type up|word}"
NOTES = "{notes|meeting notes|notes below|notes of the meeting|following notes|minutes|bullet points|points below|meeting record|file note|jottings|input|material|text below|notes from our meeting|notes I took}"
LETTER = [
    PLEASE
    + LETTER_VERB
    + " {a|the} {|||short |brief |clear |proper |polite |follow-up |concise |nice |one-page }{letter|letter|letter|client letter|follow-up letter} {to|for} {the|our|my} client{ from| based on| using| out of| on the basis of} {the|these|my|our|the following} "
    + NOTES,
    PLEASE
    + LETTER_VERB
    + " {a|the} {||follow-up |confirmation }letter to {the|our} client{| that {confirms|sums up|sets out|covers|repeats} {what was {agreed|discussed|said}|the {main |key |}points|the decisions and next steps|the outcome of the meeting|everything in the notes}}",
    PLEASE
    + "{turn|convert|transform|make|rewrite|put|work} {these|the|my|the following} "
    + NOTES
    + " {into|as} {a|the} {||polite |proper |formal }{letter|client letter|follow-up letter|letter to the client|letter for the client|letter we can send to the client}",
    "{From|Based on|Using|With|Out of|On the basis of} {the|these|my|our} "
    + NOTES
    + "{|,} "
    + LETTER_VERB
    + " {a|the} {|follow-up |short }letter {to|for} {the|our} client",
    "{You {draft|write|compose} letters to clients from {meeting |}notes|You turn meeting notes into client letters|You are {writing|drafting} a letter to {the|a|our} client|You get meeting notes and answer with a letter to the client|You write the letter that goes to the client after a meeting}",
    "{letter to client|client letter|letter to the client please|draft letter|follow-up letter|letter from notes|Letter for the client, please|client letter from these notes|Draft client letter|letter pls|Write the letter|Draft the letter|Write to the client|write to the client about this|Follow up with the client by letter|Confirm this to the client in writing|put this in a letter for the client|Send the client a letter about our meeting}",
    "{What would a letter to the client {about|on} this {meeting |}look like?|How should we write this to the client?|Can I have a letter to the client{| from this}?|Could I get a {draft |}letter for the client?|Would you write the client a letter about this?|Can this be a letter to the client?}",
    PLEASE
    + "{tell|inform|write to} the client {in a letter |by letter |}{what we discussed|what was agreed|about the {outcome|results} of the meeting|what happens next|about our meeting}",
    PLEASE
    + "{write|draft} {an email|a mail|an e-mail|a message} to the client {summing up the meeting|after the meeting|based on the notes|with the points from our meeting|from these notes}",
]
LETTER += [
    "{Put|Write|Lay} {this|it|these points|what follows} {down |out |}{for|in a letter for|in a letter to} {the|our|my} client",
    "{The client|Our client|She|He} {expects|is waiting for|should get|needs|deserves} {a|our} {letter|follow-up letter|written confirmation}{. Write it|. Draft it, please|, please write it| about the meeting}",
    "{Whatever notes you get|From any notes}, {write|answer with|make} {a|the} {client letter|letter to the client}",
    "{I met|We saw|I spoke to} a client{ today| this week|}{. |, }{Write|Draft|please write|please draft} the letter{ that I can sign| I will send|}{| to the client}",
    "Here {are my notes|is what I noted|are the notes of the meeting|is what was said}{. |; |, }{Write|Draft|please make|Put it into} {a letter|the letter|a client letter}{ for the client|}",
]
SUMMARY_VERB = "{summarise|summarize|sum up|condense|shorten|recap|boil down|outline|abridge|digest|give a summary of|write a summary of|provide a summary of|produce a summary of|make a summary of|write a {short|brief} summary of|give me a {short|brief|quick} summary of}"
LENGTH = "{| in {two or three|2-3|2 or 3|two to three|three|a few|a couple of|max 3|at most three|no more than three} sentences| briefly| in a short paragraph| in short| in brief| for the file| for my colleague| for the partner| in plain words| concisely}"
SUMMARY = [
    PLEASE + SUMMARY_VERB + " {the|these|my|the following|our} " + NOTES + LENGTH,
    PLEASE
    + SUMMARY_VERB
    + " {the meeting|this meeting|this|the discussion|the call|what was said|what happened|the conversation|the file note}"
    + LENGTH,
    "{What is {this|the meeting} about{| in short}?|What happened{| at this meeting| in the meeting}?|What are the key points{| of these notes| here}?|What do {these|the} notes say{| in a few sentences| in short|, briefly}?|What was discussed?|What is the gist{| of this| of the notes}?|What do I need to know from these notes?|Can I have the short version?}",
    "{summary|Summary please|short summary|tl;dr|TLDR|summary in 2-3 sentences|Summary, two or three sentences|brief summary pls|2-3 sentences|recap please|the short version please|in short?|gist please|key points as a short text}",
    "{You summarise {meeting |}notes{| in two or three sentences}|You are given notes and answer with a short summary|You write summaries of meetings|You condense notes to {two or three|2-3} sentences}",
    "In {two or three|2-3|a few|three} sentences, {what do the notes say?|what was discussed?|summarise the notes|sum up the meeting|tell me what happened|what is this about?}",
    PLEASE + "tell me {in two or three sentences |briefly |}{what was discussed|what the meeting was about|what these notes say|what this says}",
    PLEASE
    + "{write|draft|give me|prepare} {two or three|2-3|a few} sentences {about the meeting|that sum up the notes|for the file|on what was discussed|summarising the notes|with the main points}",
]
SUMMARY += [
    "{My|A} {colleague|partner|boss|secretary} {was not there|missed the meeting|has no time|needs to know what happened}{. |; }{Sum it up|Give a short account|Write two or three sentences|Tell them what was said|Brief them}",
    "{Just|Only} {the essentials|the main points|the gist|the key facts|the important things}{, please|| in a few sentences|, in plain text}",
    "{Brief me|Brief me on this|Update me|Catch me up|Fill me in|Bring me up to date|Bring the team up to date}{ on the meeting|| in {two|three} sentences}",
    "{Shorten|Cut|Reduce|Compress} {this|it|the text|the notes} to {two|three|two or three|2-3} sentences",
    "{Abstract|Synopsis|Overview|Recap|Executive summary|Brief|Short account}{ please|| of the meeting| of these notes}",
]
ACTION_VERB = "{list|extract|find|collect|pull out|give me|show|write down|identify|note|name|pick out|gather|get|return|output|compile|make a list of|draw up a list of}"
ITEMS = "{action items|action points|actions|to-dos|tasks|next steps|follow-ups|todos|open tasks|things to do|action items with owner and {deadline|due date}|tasks with names and dates|actions with owners|commitments}"
ACTIONS = [
    PLEASE + ACTION_VERB + " {the|all|all the|all of the|any} " + ITEMS + "{| from| in| of| contained in} {the|these|my|our} " + NOTES,
    PLEASE
    + ACTION_VERB
    + " {the|all} "
    + ITEMS
    + "{|| as bullets| as bullet points| as a bulleted list| as a list|, one per line|, with who and when}",
    "{Who {has to|must|needs to|should|will} do what{|, by when|, and when| and by when}?|What are the {action items|next steps|to-dos|tasks|actions}?|What {needs|has} to be done{|, by whom and when}?|What do we have to do now?|Which tasks {came out of the meeting|are open|follow from this}?|What's next and who does it?|Who does what?}",
    "{action items|Action items please|todo list|to-do list|to do|actions?|next steps|list of tasks|tasks|action list|Actions: who, what, when|action items, bullets|todos pls|to-do list from this}",
    "{You {list|extract} {the |}action items {from|in} {meeting |}notes|You are given notes and answer with the list of action items|You make to-do lists from meeting notes}",
    PLEASE
    + "{make|create|write|prepare|draw up} {a|the} {to-do list|task list|list of {actions|tasks|next steps|action items}|checklist|bullet list of the next steps|action list} {from|based on|out of|for} {the|these|this} {meeting|notes|text|meeting notes|minutes}",
    PLEASE
    + "{go|look|read} through {the|these} notes and {list|note|write down} {who has to do what|every task|all action items|what has to be done}",
]
ACTIONS += [
    "{Who|What} {is on|goes on} {the|our|my} {to-do list|list|task list}?",
    "{I|We} {only |just |}{need|want} the {tasks|to-dos|jobs|actions|assignments}{, one per line|| from this| with names and dates|, nothing else}",
    "{Which|What} {jobs|tasks|duties|promises} {follow|result|remain|were handed out}{ from the meeting|}?",
    "{Sort out|Work out|Write up|Spell out} {who does what|the tasks|the to-dos|what everybody has to do}{| by when| and by when| as a list}",
    "{What did everyone promise|Who promised what|What did we promise, and what did they}?",
]
DISPUTE_VERB = "{answer|reply to|respond to|write a reply to|draft a reply to|write an answer to|draft an answer to|draft a response to|write a response to|prepare a reply to|deal with|compose a reply to|write back about}"
COMPLAINT = "{billing dispute|dispute|complaint about the {bill|invoice|fees|charges}|invoice dispute|billing complaint|fee dispute|disputed invoice|disputed bill|invoice query|objection to the invoice|message about the invoice|complaint|client's complaint|client's message about the {bill|invoice}|dispute over the invoice|disagreement about the bill|billing question}"
DISPUTE = [
    PLEASE
    + DISPUTE_VERB
    + " {the|this|the following|our client's|that} "
    + COMPLAINT
    + "{||| below| politely| in a polite way| professionally| on our behalf| for us| by letter| in writing}",
    "{The|A|Our} client {disputes|contests|questions|complains about|objects to|is unhappy with|does not accept|refuses to pay} {a|our|the|an|this} {bill|invoice}. {Draft {our|a} reply|Write {our|the|an} answer|Please reply|Reply|Answer {them|the client}|Write back|Draft a response|What do we answer?|Please draft an answer}",
    "{You {answer|reply to} {billing disputes|clients who dispute a bill|invoice complaints}|You are given a billing dispute and write the reply to the client|You write our replies to complaints about invoices|You handle billing disputes}",
    "{reply to this|Reply to this please|answer the dispute|billing dispute: reply|draft reply|dispute reply please|answer this complaint|reply to the invoice complaint|response to the client's dispute|Billing dispute, please answer|Write the reply}",
    "{How do we answer this {complaint|dispute|billing complaint}?|What should we reply to {the client|this complaint|this dispute}?|Can you answer this billing complaint?|Could you draft our reply to this dispute?|What do I write back about this invoice?}",
    PLEASE
    + "{write|draft|compose|prepare} {a|our|the} {|polite |short |friendly |calm |factual |professional }{letter|reply|answer|response|email} to {the|a|our} client who {disputes|questions|contests|complains about|rejects} {the|an|our|this|a} {invoice|bill|charge|fee}",
    PLEASE + "{write|draft} {a|our} {letter|reply} {about|in} this {billing dispute|invoice dispute|fee dispute|dispute about the bill}",
]
DISPUTE += [
    "{Answer|Reply|Respond|Write back|Reply to the client|Answer the client|Please reply|Please answer|Write an answer|Answer it|Send a reply}{| to this| politely|, politely| in a friendly way| on behalf of the firm| for me| to the message below}",
    "{This|The following} {came in|arrived|reached us|was sent to us}{ today|| this morning}{. |; }{Reply|Please answer|Draft our answer|What do we say?|Write back}",
    "{A|One} {client|customer} {is angry|is annoyed|is not happy|complains|is upset|is unhappy} {about|with|over} {a bill|an invoice|the fees|our invoice|our charges|what we charged}{. |; }{Reply|Write a reply|Draft an answer|Please answer|Write to them}",
    "{Take care of|Handle|See to|Settle} {this|the} {complaint|dispute|message|billing matter|objection}{, please||. Be polite}",
    "{Explain to the client|Tell the client} {our position|what we decided|how we see it|what we will do} {on|about} {the|this} {invoice|bill|complaint|dispute}",
]
ASKS = {"letter": LETTER, "summary": SUMMARY, "actions": ACTIONS, "dispute": DISPUTE}
ROLES = """{You are a{n assistant at a law firm| helpful assistant|n assistant in a tax office| careful writer| secretary at an advisory firm|n assistant for consultants| business writer| legal assistant|n expert in client letters|n accountant's assistant}.|
You work for {an advisory firm|a law firm|accountants|a small consultancy|a tax adviser}.|You help {consultants|lawyers|advisers|our team} with {their|the} correspondence.|We are {a law firm|an advisory firm|accountants}.|You write for <firm>.|You are the assistant of <firm>.|You work at <firm>, {a law firm|tax advisers|an advisory firm}.|Our firm is <firm>.|Act as {a legal secretary|an adviser|an assistant}.}""".replace(
    "\n", ""
)
LIMITS = """{Do not {invent|make up} {anything|facts|details|names or figures}|Use only {what is in the notes|the facts given|the information in the input}|{Keep|Copy} {names, dates and amounts|all names and figures|the figures} exactly{| as given}|{Keep it|Be} {short|brief|clear|concise|polite|factual}|
Write {in plain English|plainly|clearly|in full sentences|in English}|No {jargon|extra comments|introduction|markdown}|{Only output|Output only|Return only} {the text|the result|the answer}|Answer in English|Mention {all|every} {dates|dates and amounts|deadlines}|Do not {leave anything out|add anything|use placeholders}|
Under {100|120|150|200} words|Thanks|Thank you|It is urgent|Nothing else}""".replace("\n", "")
FRIENDLY = "{Use a {friendly|warm|personal|relaxed} tone|Be {friendly|warm} and use the first name|Keep it {friendly|warm and personal}|Friendly tone, first name|Make it warm|Use {the|their} first name|in a friendly tone}"
FORMAL = "{Use a formal tone|Keep it formal|Formal style|Be formal and polite|Professional tone}"
SIGNED = (
    "{Sign as <by>|Signed: <by>|Sign it as <by>|The letter is from <by>|I am <by>|My name is <by>|Signature: <by>|It is signed by <by>|From <by>}"
)
NUMBERED = "{Number them|Use a numbered list|As a numbered list|Number the items|numbered}"


AN = re.compile(r"\ba (?=[aeio])")


def slip(rng: random.Random, text: str) -> str:
    """The text with one slip of the finger: a letter swapped, dropped or doubled."""
    at = rng.randint(1, max(1, len(text) - 3))
    if not (text[at : at + 2].isalpha()):
        return text
    return rng.choice([text[:at] + text[at + 1] + text[at] + text[at + 2 :], text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:]])


def instruction(rng: random.Random, job: str, extra: str = "") -> str:
    """One wording of the job; `extra` is a further wish that changes the reply, such as the friendly tone."""
    ask = capital(say(rng, rng.choice(ASKS[job]))) if rng.random() < 0.85 else say(rng, rng.choice(ASKS[job]))
    ask = ask if ask.endswith("?") else ask + rng.choice([".", ".", ".", ".", "", "", ":", "!"])
    parts = [ask]
    for chance, part in ((1.0 if extra else 0.0, extra), (0.3, LIMITS), (0.12, LIMITS)):
        if rng.random() < chance:
            parts.append(say(rng, part) + rng.choice([".", ".", ".", ""]))
    if rng.random() < 0.22:
        parts.insert(0, say(rng, ROLES, firm=advisers(rng)))
    text = AN.sub("an ", rng.choice([" ", " ", " ", "\n"]).join(parts).strip())
    if rng.random() < 0.06:
        text = text.lower()
    return slip(rng, text) if rng.random() < 0.08 else text


def messages(rng: random.Random, job: str, material: str, extra: str = "") -> list[dict[str, str]]:
    """The prompt as the engine renders it: mostly instructions and input apart, sometimes the input alone with the task in it."""
    ask, kind = instruction(rng, job, extra), rng.random()
    if kind < 0.6:
        lead = (
            rng.choice(["", "", "", "", "", "Notes:\n", "Here are the notes:\n", "Input:\n", "Text:\n"])
            if job != "dispute"
            else rng.choice(["", "", "", "Dispute:\n", "Message:\n"])
        )
        return [{"role": "system", "content": ask}, {"role": "user", "content": lead + material}]
    if kind < 0.84:
        text = rng.choice(
            [
                f"{ask}\n\n{material}",
                f"{ask}\n\n{material}",
                f"{ask}\n{material}",
                f"{ask} {material}",
                f"{ask}\n---\n{material}",
                f'{ask}\n\n"""\n{material}\n"""',
                f"{ask}\n\nNotes:\n{material}",
            ]
        )
    else:
        text = rng.choice([f"{material}\n\n{ask}", f"{material}\n\n---\n{ask}", f"{material}\n{ask}"])
    if rng.random() < 0.35:
        return [{"role": "system", "content": say(rng, ROLES, firm=advisers(rng))}, {"role": "user", "content": text}]
    return [{"role": "user", "content": text}]
