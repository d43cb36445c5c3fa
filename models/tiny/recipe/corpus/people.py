"""Names of people and of firms, from many places; a good part of them is made up of syllables, so that none can be learnt by heart."""

import random
from dataclasses import dataclass

from .words import draw

WOMEN = """Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Margaret Sandra Ashley Emily Donna Michelle
Carol Amanda Melissa Deborah Stephanie Rebecca Laura Helen Sharon Cynthia Kathleen Amy Angela Shirley Anna Ruth Brenda Pamela Nicole
Katherine Virginia Catherine Christine Samantha Debra Janet Rachel Carolyn Emma Maria Heather Diane Julie Joyce Victoria Kelly Christina
Lauren Joan Evelyn Olivia Judith Megan Cheryl Andrea Hannah Jacqueline Martha Gloria Teresa Sara Janice Julia Grace Judy Abigail Sophie
Priya Deepa Meera Lakshmi Ananya Kavita Mei Xiu Ling Yuki Aiko Haruka Fatima Layla Amina Zara Noor Leila Yasmin Soraya Ingrid Freya Astrid
Solveig Åsa Linnéa Chiara Giulia Sofía Elena Carmen Lucía Inés Beatriz Conceição Chloé Zoé Anaïs Camille Margaux Amélie Heike Anja Petra
Jürgena Käthe Oksana Irina Svetlana Magda Ewa Zofia Małgorzata Agnieszka Katarzyna Jiřina Zuzana Ágnes Ilona Niamh Siobhán Aoife Gwen
Carys Iona Ama Abena Ngozi Adaeze Thandiwe Zanele Imani Wanjiru Nadia Samira Ayşe Elif Dilara Ana Mihaela Ioana Despina Eleni Eirini
Tessa Clara Nora Ida Greta Hazel Ivy Maya Ruby Pearl Vera Alma Edith Mabel Rosa Flora Daphne Harriet Matilda Rosalind Philippa Georgina
Annika Maren Signe Tuuli Aino Ilze Rūta Živa Tamar Shira Nino Anahit Linh Thảo Siti Dewi Malia Aroha Kiri""".split()
MEN = """James John Robert Michael William David Richard Charles Joseph Thomas Christopher Daniel Paul Mark Donald George Kenneth Steven
Edward Brian Ronald Anthony Kevin Jason Matthew Gary Timothy Larry Jeffrey Frank Scott Eric Stephen Andrew Raymond Gregory Joshua Jerry
Dennis Walter Patrick Peter Harold Douglas Henry Carl Arthur Ryan Roger Albert Jonathan Justin Terry Gerald Keith Samuel Ralph Lawrence
Nicholas Roy Benjamin Bruce Brandon Adam Harry Fred Wayne Louis Jeremy Aaron Randy Howard Eugene Carlos Russell Bobby Victor Martin Ernest
Phillip Alan Sean Clarence Philip Anil Sanjay Ravi Arjun Vikram Rohan Wei Jun Hao Hiroshi Kenji Takeshi Omar Hassan Yusuf Tariq Karim
Bilal Lars Sven Bjørn Søren Håkon Åke Marco Luca Matteo Giovanni Pablo Diego Javier José Tiago Rui João Antoine Hugo Pierre Rémi François
Benoît Klaus Jürgen Stefan Günther Matthias Dmitri Pavel Sergei Tomasz Piotr Łukasz Paweł Jiří Ondřej László Zoltán Declan Cormac Rhys
Owain Fraser Hamish Kwame Kofi Chidi Tunde Emeka Sipho Thabo Jamal Kamau Samir Mehmet Emre Kerem Ion Radu Bogdan Nikos Giorgos Kostas Owen
Felix Jonas Otto Miles Theo Leo Oscar Isaac Simon Rupert Hugh Cedric Alastair Barnaby Conrad Edmund Jasper Lionel Magnus Mikko Juhani
Andrejs Jonas Luka Matej Ari Eitan Davit Armen Minh Quang Budi Rizal Keoni Tane Wiremu""".split()
LAST = """Smith Johnson Williams Brown Jones Garcia Miller Davis Martinez Lopez Wilson Anderson Taylor Moore Jackson Lee Thompson White Harris
Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams Nelson Baker Hall Campbell Mitchell Carter Roberts Phillips Evans
Turner Parker Edwards Collins Stewart Morris Murphy Cook Rogers Morgan Cooper Reed Bailey Bell Howard Ward Cox Richardson Watson Brooks Wood
Bennett Gray Hughes Price Myers Long Foster Sanders Ross Powell Sullivan Fisher Henderson Cole Jenkins Perry Patterson Barnes Graham Wallace
West Reynolds Hamilton Marshall Ellis Harrison Fox Webb Tucker Porter Hunter Hicks Crawford Boyd Mason Kennedy Warren Dixon Burns Gordon Shaw
Rice Holmes Stone Hunt Palmer Nichols Grant Knight Ferguson Spencer Hawkins Dunn Hudson Gardner Payne Pierce Berry Matthews Arnold Wagner
Okafor Adeyemi Mensah Nkosi Dlamini Mwangi Otieno Abubakar Patel Sharma Gupta Iyer Rao Khan Ahmed Hussain Malik Rahman Chowdhury Chen Wang
Zhang Liu Huang Zhou Tanaka Sato Suzuki Nakamura Yamamoto Kim Park Choi Jeong Nguyen Tran Pham Novák Dvořák Kowalski Nowak Wiśniewska
Wójcik Horváth Nagy Szabó Petrov Ivanova Kuznetsov Shevchenko Larsen Hansen Nilsson Lindqvist Sjöberg Ødegård Virtanen Korhonen Jansen
Bakker Visser Dijkstra Verhoeven Müller Schmidt Weber Fischer Schröder Köhler Jäger Großmann Zürcher Ammann Dubois Laurent Moreau Lefèvre
Béranger Gauthier Rossi Bianchi Ricci Conti Silva Santos Costa Pereira Fernandes Gonçalves Muñoz Peña Ibáñez Haddad Nasser Farouk Mahmoud
Yılmaz Çelik Demir Popescu Ionescu Papadopoulos Georgiou Byrne Doyle Gallagher O'Connell O'Neill Brennan Fitzgerald Macleod McKenzie
Sinclair Buchanan Pritchard Griffiths Penrose Trelawney Ashworth Blackwood Fairfax Hargreaves Kingsley Lockhart Thorne Whitlock Yardley
Abrams Goldstein Levy Cohen Katz Petrosyan Beridze Tamm Kask Bērziņš Kazlauskas Zupan Kovač Babić Jovanović Lim Tan Wong Santoso Reyes Cruz
Brandt Berg Keller Vogel Lang Frei Steiner Huber Moser Baumann Egger Rey Favre Blanc Roux Faure Marchetti Galli Serra Moretti""".split()
ONSET = """b br c ch cl d dr f fl g gr h j k kr l m n p pr qu r s sch sh sk sl st t th tr v w z zh ny bl gl kn mw nd ts dz""".split()
VOWEL = "a a a a e e e e i i i o o o u u ai ei ou ea ie y ö ü á é ó ã".split()
PLAIN_VOWELS = VOWEL[:22]
CODA = """n r l s m t k nd rt ck ll x ng sk ld th v lm rn st tz ch""".split()
LAST_END = "son sen berg feld man er ley ton well wood ford ov ova ski ska ic ez es ini elli eau ard ian yan idze dottir wala kar moto mura aho nen s a o i en".split()
FIRST_END = "a ia el en ina is us o an ette ra ko ya eh id ard mir win a e".split()
TRADES = """Logistics Foods Energy Systems Retail Health Properties Engineering Textiles Marine Packaging Interiors Bakeries Motors Media Labs
Housing Dairies Timber Ceramics Pharma Insurance Hotels Clinics Farms Brewing Aviation Software Instruments Publishing Freight Robotics Solar
Plumbing Roofing Optics Print Furniture Design Events Catering Vineyards Nurseries Tools Metals Glass Studios Travel Security Analytics
Orthodontics Veterinary Bikes Cosmetics Apparel Toys Recycling Seeds Fisheries Films Records Translations Cleaning Coffee Chocolate""".split()
FORMS = (
    "Ltd Ltd Limited plc GmbH AG SA Sàrl SARL BV Inc. LLC LLP S.r.l. AB Oy ApS Pty KG Group Holdings Partners Trust Foundation Association".split()
)
ADVICE = ["Advisory", "Consulting", "& Partners", "Associates", "LLP", "Consultants", "Advisers", "Tax", "Law", "Counsel", "& Co", "Accountants"]


@dataclass(frozen=True)
class Person:
    """Somebody in a case: `title` is what a letter may call them by, when the notes give it."""

    title: str
    first: str
    last: str
    woman: bool

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


def syllables(rng: random.Random, low: int, high: int) -> str:
    parts, vowels = [], VOWEL if rng.random() < 0.25 else PLAIN_VOWELS
    for _ in range(rng.randint(low, high)):
        parts.append(rng.choice(ONSET) + rng.choice(vowels) + (rng.choice(CODA) if rng.random() < 0.35 else ""))
    return "".join(parts)


def family_name(rng: random.Random, held_out: bool = False) -> str:
    def make() -> str:
        draw_kind = rng.random()
        if draw_kind < 0.6:
            return rng.choice(LAST)
        made = (syllables(rng, 1, 2) + rng.choice(LAST_END)).capitalize()
        if draw_kind < 0.94:
            return made
        return rng.choice([f"{made}-{rng.choice(LAST)}", f"{rng.choice(['van', 'de', 'von', 'El', 'Al', 'da'])} {made}", f"Mac{made}", f"O'{made}"])

    return draw(make, held_out)


def person(rng: random.Random, held_out: bool = False) -> Person:
    """A person whose first and last name are both on the wanted side of the split."""
    woman = rng.random() < 0.5

    def make() -> str:
        if rng.random() < 0.85:
            return rng.choice(WOMEN if woman else MEN)
        return (syllables(rng, 1, 2) + rng.choice(FIRST_END)).capitalize()

    title = rng.choice(["Ms"] * 6 + ["Mrs"] * 4 + ["Dr"] * 2 + ["Prof.", "Miss", "Frau"] if woman else ["Mr"] * 11 + ["Dr"] * 2 + ["Prof.", "Herr"])
    return Person(title, draw(make, held_out), family_name(rng, held_out), woman)


def firm(rng: random.Random, held_out: bool = False) -> str:
    """The name of a client's business."""

    def make() -> str:
        base = family_name(rng, held_out) if rng.random() < 0.6 else syllables(rng, 2, 3).capitalize()
        kind = rng.random()
        if kind < 0.3:
            return f"{base} {rng.choice(FORMS)}"
        if kind < 0.6:
            return f"{base} {rng.choice(TRADES)}"
        if kind < 0.85:
            return f"{base} {rng.choice(TRADES)} {rng.choice(FORMS)}"
        return rng.choice(
            [
                f"{base} & {family_name(rng)}",
                f"{base} and Sons",
                f"{base} & Daughters",
                f"The {base} {rng.choice(['Trust', 'Foundation', 'Group'])}",
                f"{base}{rng.choice(['tech', 'works', 'soft', 'line', 'fab'])}",
            ]
        )

    return draw(make, held_out)


RARE = "bcdfghjklmnpqrstvwxzbcdfglmnprst"
ACCENTED = [*"àáâãäåæèéêëìíîïòóôõöøùúûüýćčďęěğıłńňőœřśşšťůűźżž"]
RARE_VOWELS = "aaaeeeiiioouuy"
PLACES_IN_NAMES = """hall|ton|ham|by|thorpe|stead|combe|worth|field|gate|bury|croft|mere|ley|brook|bridge|wood|land|burn|cliff|well|ford|stone|more|dale|wall|mann|stein|bach|
quist|gren|vik|sund|dal|strand|escu|opoulos|akis|enko|chuk|wicz|czyk|nyi|vary|ashvili|ullah|uddin|zadeh|nejad|singh|appa|murthy|gowda|tunga|sanya|iroha|shima|zaki|gawa|guchi""".replace(
    "\n", ""
).split("|")


STARTS = "Fen Gal Gil Hal Kel Lor Nar Sel Shel Stan Tal Tem Unt Vel Yar Zan Zel Dor Del Cas Pel Ral Wal Wes Win Mon Mel Lar Thor Hol Eng Kar Hem Ul Van Jas Ev Whi Lan Sal Ren Dra Sig Mal Eun Fra Pri Bra Tor Ind Ves Jor".split()
FINISHES = "wick hurst vale stone ington ylan onald stead ward osa omas athan ison lex ette borne anis aloha elli aro mann rick field".split()


def rare_name(rng: random.Random) -> str:
    """A name of letters that seldom stand together, for the training alone: nobody knows it, and it has to be copied."""
    if rng.random() < 0.25:
        known, other = rng.choice(LAST), rng.choice([*LAST, *WOMEN, *MEN])
        start = rng.choice(STARTS) if rng.random() < 0.4 else known[: rng.randint(2, len(known))]
        return (start + (rng.choice(FINISHES) if rng.random() < 0.4 else other[-rng.randint(2, len(other)) :].lower())).capitalize()
    kind = rng.random()
    if kind < 0.3:
        return (syllables(rng, 1, 3) + rng.choice(PLACES_IN_NAMES)).capitalize()
    letters = [rng.choice(RARE) if at % 2 else rng.choice(RARE_VOWELS) for at in range(rng.randint(3, 9))][rng.choice([0, 1]) :]
    if rng.random() < 0.3:
        letters[rng.randrange(len(letters))] = rng.choice(ACCENTED)
    name = "".join(letter * 2 if rng.random() < 0.12 else letter for letter in letters).capitalize()
    if kind < 0.8:
        return name
    other = (syllables(rng, 1, 2) + rng.choice(LAST_END)).capitalize()
    return rng.choice(
        [
            f"{name}-{other}",
            f"{other}-{name}",
            f"Mc{name}",
            f"D'{name}",
            f"O'{name}",
            f"Al-{name}",
            f"de {name}",
            f"van der {name}",
            f"Le{name}",
            f"Fitz{name.lower()}",
        ]
    )


def rarer(rng: random.Random, known: Person) -> Person:
    """The person, often under a name that nobody knows."""
    first = draw(lambda: rare_name(rng), held_out=False) if rng.random() < 0.35 else known.first
    return Person(known.title, first, draw(lambda: rare_name(rng), held_out=False) if rng.random() < 0.4 else known.last, known.woman)


def rarer_firm(rng: random.Random, name: str) -> str:
    """The firm, now and then under a name that nobody knows."""
    if rng.random() < 0.7:
        return name
    return f"{draw(lambda: rare_name(rng), held_out=False)} {rng.choice([*TRADES, *FORMS, 'Trust', 'Club', 'House', 'Hotel', 'School'])}"


def advisers(rng: random.Random, held_out: bool = False) -> str:
    """The name of the firm that writes the letter."""
    return draw(lambda: f"{family_name(rng, held_out)} {rng.choice(ADVICE)}", held_out)
