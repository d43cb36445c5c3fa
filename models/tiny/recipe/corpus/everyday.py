"""Words of everyday life and of offices, of all kinds: what a tokenizer has tokens for, a training has to meet in replies too."""

import random

WORDS = """about above abroad absence accept acceptable acceptance access accident according account accountant accounts accurate acquire across action actions active actual additional
adjust advance adverse advice affect afford afraid afternoon afterwards again against age agency agenda agreed agreement ahead aid alarm album alive almost alone along already alternative although
always amazed ambition among amount amounts ample analysis analyst ancient announce annual another answer answered answers anxious anybody anything apart apology apparent appeal appear appendix
applicant application applied apply appointment appraisal approach appropriate approval approve approx arch archive argue arise army around arrange arrangement arrears arrival arrive article artist
aside asset assets assist assistant associates assume attach attack attempt attend attendance attended attention attic attitude auction author authority average avoid award aware away awkward back backed
background balance ballot bare bargain barrier basement basic basis basket batch beach bear beauty because become bedroom before behaviour behind belief believe belongs below bend benefit benefits
beside best better between beyond bid bids binding birth bitter blanket blind blood blow board boardroom body bond bonus border borrow both bother bottom bound boundary brain breach bread break breakdown
breakfast breath breed brief briefly bright bring bringing broad brother brush budget bulk bullet bullets burden burn bury business busy butter button buyer cake calculation calendar calm camp cancelled
candidate capable capacity capital capped careful carefully cargo carry case cash castle catch category cattle caught cause caused caution cease celebrate cell central centre certain certainly chain challenge
chance change changes channel chapter charge charged charges cheap check checked cheese chief childhood choice choose church circle circulate citizen civil claim clarity classic clause clean clear clearly clever
click client climb close closed closely closing closure cloth cloud coach coal coast code coffee cold collapse colleague collect college column combine comfort coming command comment commercial commission
commit commitment committee common community company comparable compare compensation compete competent compile complain complaint complete completely complex compliance component compromise computer
concept concern concerned concert concise conclude concrete condition conduct conference confidence confident confirm confirms conflict confused connect consent consequence conservative consider considerable
consignment consist constant construct consultancy consultant consultants consulting contact contacting contain content contest context contingency continue continued contract contracts contractor contrast
contribute control convenient conversion convince cook cool cooperate copper copy core corner corporate correct correspond corridor cost costs cottage council counsel counter country county couple courage course
courtyard cousin cover coverage covers crack craft crash cream create creative creature credit crime crisis criteria critical crop cross crowd crown crucial cruise cry culture cup cupboard cure curious
currency current curve customer customs cut cycle daily damage damp dance danger dark dash dashboard data dated dates dawn day days dead deadline deadlines deal dealt death debate debt decade decent decide decided
decision deck declare decline deed deep default defect defence defend deficit define definite degree delay delayed delegate deliberate delicate delight deliver delivery demand demolish denial dental department departure
depend deposit deposits depot depth deputy derive describe desert deserve design desire desk despite destroy detail detailed details determine develop development device devices differs difference different difficult digital
dignity dinner direct direction director dirt disagree disappear discharge disclose discount discover discrepancy discuss discussed discussion dish dismiss display dispute disputes distance distinct distribute district disturb
diverse divide divorce dock doctor document domestic dominant donate donor doorstep double doubt down downstairs dozen draft drag drain drama draw drawn dream dress drink drive drop drought drugs drum duplicate during
dust duty each eager early earn earth ease east easy echo economy edge edition editor educate effect effective efficient effort eight either elderly elect electric element eleven eligible else elsewhere
embrace emerge emergency emotion emphasis employ employee employer employment empty enable encourage endless enemy energy enforce engage engine enhance enjoy enormous enough enquiry ensure enter entire entitle
entrance entry envelope environment equal equip equity error escape especially essential establish estate estimate ethics evening event eventually ever everybody everyone everything evidence evident evil exact exactly exam
example exceed excellent except excess exchange excited exclude exclusive excuse execute exempt exercise exhaust exist exit expand expect expected expense expensive experience expert expire explain explore
export expose express extend extension extensive extent external extra extract extreme fabric face facility fact factor factory facts fade failure faint fair fairly faith faithful fall familiar famous fancy
fashion fast fatal fate fault favour fear feature federal feed feedback feel fellow fence few fewer fiction field fierce fifteen fifty fight figure figures file filing fill film filter final finalise finalised finally finance
finances find findings fine finger finish finished firm firmly first fiscal fish fitness five fix fixed flag flagged flame flash fleet flesh flexible flight float flock flood floor flow flower fluid focus fold follow
followed following follows food fool foot force forecast foreign forest forever forget forgive formal format former formula forth fortune forty forum forward foster found foundation four fraction frame framework
fraud free freedom freeze freight frequent fresh friend friendly front fruit fuel full fully function fund fundamental funding funeral funny further furthermore future gain gallery game garage garden gas gate gather
gender general generate generous gentle genuine gesture giant gift girl given glad glance glass global goal goes gold golden good goods govern grade gradual grain grand grandchildren grandmother grant granted grass grateful grave
great green grocery gross ground group grow growth guarantee guard guess guest guidance guide guilty habit half hall halt hand handbook handle happen happy harbour hard hardly harm harsh harvest hazard headed
headline health healthy hear hearing heart heating heavy height helpful hence heritage hesitate hidden high highly hire history hold holder holding holiday holidays home honest honour hope horizon horse hospital
host hostile hotel hour hourly hours house household housing huge human humble hundred hungry hunt hurry hurt ideal identify identity idle ignore illegal illness image imagine immediate impact implement
import importance important impose impossible impress improve incentive incident include included income incomplete inconvenience incorrect increase increased indeed independent index indicate indirect individual indoor industrial
industries industry infant inflation influence inform informal information infrastructure inherit initial initiative injury inner innocent input inquiry inside insist inspect inspection inspector install installation
instance instant instead institute institution instruct instruction instruments insulation insurance insure insurer intact integration integrity intellect intend intense intention interest interests interim interior interiors
internal international interpret interrupt interval interview into introduce invade invent inventory invest investigate investment investor invisible invitation invite invoice invoices involve inward iron island
isolate issue issued issues item items itself jacket jewel job join joint journal journey judge judgment juice junior jury just justice justify keen keep keeper kept key kick kind kindly kingdom kiosk kitchen knee
knew knock know knowledge label labour lack ladder lady lake lamp land landing landlord lane language laptop large largely laser last late lately later latest launch launched laundry law lawn lawyer layer layout lead
leading leaf league leak learn lease leased least leather leave lecture ledger left legacy legal legend leisure lend length lesson letter letters level liability liable liberty library licence lid lie life lifetime
lift light likely limit limited line link lion liquid list listed listen literature litigation little live living load loan lobby local locate location lock lodge logged logic logistics long look loose lorry lose loss lost
lots loud love lovely lower loyal luck lucky lump lunch luxury machine machinery magazine mail main mainly maintain maintenance major majority make maker manage management manager mandate manner manual manufacture many
margin marine mark market marriage married mass master match matches material matrix matter matters maximum maybe mayor meal mean means meanwhile meantime measure measures meat mechanic media medical medicine medium member
membership memo memory mental mention mercy mere merge merger merit mess message metal meter method middle midnight might mild mile military milk mill million mind mine mineral minimum minister minor minority
minute minutes miracle mirror miss missed missing mission mistake mix mixed mixture mobile mode model moderate modern modest modify moment money monitor month monthly months mood moral more moreover morning mortgage most mostly
motion motive motor mount mountain move moved movement moves much multiple murder museum music mutual mystery name named names narrow nation national native natural nature near nearby nearly neat necessary neck need
needed negative neglect negotiate neighbour neither nephew nerve network neutral never nevertheless new newly news newspaper next nice niece night nine nobody noise none nor normal north notable note noted nothing notice notify
notion novel nowhere nuclear number numbers numerous nurse obey object objection objective obligation observe obstacle obtain obvious occasion occasional occupy occur ocean odd offence offer offered office officer
official often old once one ongoing online only onto open opened opening operate operation operator opinion opponent opportunity oppose option options orange order ordered ordinary organ organise origin original other otherwise ought
ounce ourselves outcome outdoor outer outline output outside outstanding oven over overall overcome overdraft overnight overtime overview own owned owner owners ownership oxygen pace pack package packaging packet page paid pain
paint pair palace panel panic paper papers paragraph parallel parcel pardon parent park parking part partial participant particular partly partner partners partnership party pass passage passenger past paste patch patent path
patience patient pattern pause pavement pay payable paying payment payments payroll peace peak penalty pending pension people percent perfect perform performance perhaps period permanent permission permit permits person
personal personnel persuade phase phone phones photo photographs phrase physical piano pick picture piece pilot pipe pitch place placed plain plan plane planned planning plans plant plastic plate platform play pleasant please
pleased pleasure plenty plot plus pocket poem point points poison pole police policy polite poll pool poor popular population port portal portfolio portion position positive possess possible possibly post postpone
potential pound poverty power practical practice praise pray precise prefer prefers preliminary premises premium prepare prepared presence present presented preserve president press pressure pretend pretty prevent previous price
prices pricing pride primary prime principal principle print printer prior priority prison private privilege prize probably problem problems procedure proceed proceeds process procurement produce product production profession profit profits
programme progress project projects prominent promise promised promote prompt proof proper properly property proportion proposal propose proposed prospect protect protest proud prove provide provided provider province provision
public publish pull pump punish pupil purchase pure purple purpose pursue push qualified quality quantity quarter quarterly query question questions questioned questionnaire queue quick quickly quiet quit quite quota quote quoted quotes race radar radical
rail rain raise raised random range rank rapid rare rarely rate rather ratio raw reach react read reading ready real realise really rear reason reasons rebuild recall receipt receipts receive recent recently recipe reckon recognise
recommend record recorded recover recovery recruit recycle red reduce reduced reduction redundant refer reference reflect reform refresh refund refuse regard region register regret regular regulate reject related relation
relationship relative relax release relevant reliable relief religion reluctant rely remain remains remarks remarkable remedy remember remind remote remove renew renewal rent rental repair repairs repeat replace replacement reply report reported
reporting reports represent reputation request require rescue research resemble reserve resident resign resist resolution resolve resolved resort resource respect respond response responsibility rest restaurant restore restrict result
results resume retail retain retire retirement retreat return returns reveal revenue reverse review revise revised reward rhythm rich ride ridge right ring rise rises risk risks rival river road rock role roll rollout romance roof room root rope rota
rotate rough round route routine row royal rubbish rude ruin rule rules run running rural rush sack sacred sad safe safely safety sail salary sales salt same sample sanction sand satellite satisfied satisfy save saved saving savings scale
scan scandal scarce scare scene schedule scheme scholar school science scope score scratch scream screen script search season seat second secret secretary section sector secure security seed seek seem segment seize select self
sell seller senate senior sense sensible sentence sentences separate sequence series serious seriously servant serve service services session set settle settled settlement seven several severe shade shadow shake shall shallow shame shape share
shared shares sharp shed sheep sheet shelf shell shelter shield shift shine ship shirt shock shoot shop shops shore short shortage shortly shot should shoulder shout show shown shrink shut shy sick side sight sign signal signed signature significant
signing silence silent silk silver similar simple simplify simply since sincere sing single sink sister site sites situation six sixteen size skill skin sleep slice slide slight slightly slip slow slowly small smaller smart smell smile
smoke smooth snow soap social society soft software soil soldier sole solicitor solid solution solve some somebody somehow something sometimes somewhat somewhere soon sorry sort sound source south space spare speak special
specialist species specific speech speed spell spend spent sphere spirit split spoken sponsor spread spring square stable stack stadium staff stage stages stake stakes stall stamp stand standard standing star stare start started state
statement states station statue status statutes statutory stay steady steal steam steel steep stem step steps stick stiff still stock stolen stomach stone stop stopped storage store storm story straight strain strange stranger strategy
stream street strength stress stretch strict strike string strip stroke strong structure struggle student studio study stuff stupid style subject submit submitted subsidiary substance substantial succeed success such sudden suffer
sufficient sugar suggest suggested suit suitable sum summer sun super supervise supplement supplier supply support suppose supreme sure surface surgery surplus surprise surround survey survive suspect suspend sustain swap swear sweep
sweet swift swim swing switch symbol sympathy symptom system systems table tackle tail take taken takes takeover tale talent talk tall tank tape target targets tariff task tasks taste taught tax taxable taxed teacher teachers team tear technical
technique technology telephone television temper temple temporary tempt ten tenancy tenant tenants tend tender tension term terminal terminate terms terrible territory test tested testing text thank themselves theory therefore thick thief thin
thing things third thirteen thirty this thorough those though thought thousand thread threat threshold throat through throughout throw thus tide tidy tie tight timber time times timetable timing tiny tired tissue title today together
token told toll tomorrow tone tongue tonight tool tooth top topic total totally touch tough tour toward towards tower trace track trade trader tradition traffic tragic trail train trainee training trains transaction transfer transform
transit translate transmit transparent transport trap travel treasure treasurer treasury treat treatment treaty trend trial tribe trick trip troop tropical trouble truly trust trustee trustees truth tube tuition tune turn turnover twelve twenty
twice twin twist type types typical unable uncertain unclear under undergo understand understanding understood unexpected unhappy uniform union unique unit units unity universal unknown unless unlike unlikely unpaid unsigned until unusual
upcoming update updated updates upgrade upon upper upset urban urge urgent urgently usage useful useless user users usual usually vacant vacation vague valid valley valuable valuation value valuer values van variable variety various vast vendor venture venue verdict
verify version versions versus very vessel veteran veto via victim victory video view views village violent virtual virtue visible vision visit visits visitor visual vital vivid voice volume voluntary volunteer vote voted votes vulnerable wage wages
waited waiting walk wall wander want warehouse warm warn warning warranty wash waste watch water wave way ways weak wealth weapon wear weather website wedding weekend weekly weekdays weigh weight weird welcome welfare well west wet whatever wheel whenever
whereas wherever while whilst whisper white whoever whole whom whose wide widely width wild willing wind window wine wing winner winter wire wisdom wise wish witness woman wonder wood wooden word wording words work worker workers
working works workshop world worried worry worse worst worth would wound wrap write writing written wrong yard year yearly years yellow yesterday yet yield young youth zero zone""".split()

# Frequent in notes, and strangely rare in the rest of the grammar: these stand in most often.
COMMON = """acceptable action actions actual addition also amount amounts analysis answer answered answers application applied approval arranged asked assistant attendance attention aware below bids
boardroom breakdown brief bringing bullet cancelled capped care cause caused ceramics circulate clinic company concern concise confirms consultant consultants consultancy consulting contacting contingency
continue continued contract contracts contractor correct cost costs cover covers coverage dash dashboard date dated day days decided desk discussion dispute disputes down duplicate each exactly
extended facts fairly faithfully farm few finalise finance finished first firm following follows forecast formal friendly further given good grateful happy health helpful hesitate holiday holidays
inconvenience industries instruments integration interiors internal into issue issues its keep kind kindly launch layout letter letters logged lower marine matches material matrix meantime meeting message
migration morning most motors movement moving names notes now online opening out outcome output own page panel paragraph payment period phase please pleased pleasure point points polite portal position pricing
problem procurement programme progress project quality query questioned raised received refresh regarding relation remains renewal reported resolve resolved respond response result results roll rollout
safety saving sentences seriously services settled shortly sides simplify site sites smaller some stage status statement steps strategy style talk target task tasks team text this timber todo tone touch training
unclear understand understanding unhappy until update use usual video view warehouse waiting way weekly while winter workshop worry write writing written yesterday""".split()


def everyday_word(rng: random.Random) -> str:
    """A real word, or the beginning of one with the end of another, so that the parts of words are met too."""
    word = either(rng)
    if rng.random() < 0.65:
        return word
    other = either(rng)
    return word[: rng.randint(2, max(2, len(word) - 1))] + other[-rng.randint(2, max(2, len(other) - 1)) :]


def either(rng: random.Random) -> str:
    return rng.choice(COMMON if rng.random() < 0.5 else WORDS)
