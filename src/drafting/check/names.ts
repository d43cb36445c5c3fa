/** Names of people, firms and places, as far as capitals show them. */

const aWord = String.raw`\p{Lu}[\p{L}\p{M}'’-]*`
const joints = ['and', 'de', 'del', 'della', 'der', 'di', 'du', 'la', 'van', 'von', 'zu']
/** What may stand between two words of a name. */
const joint = String.raw`(?:[\u00a0 ](?:&|${joints.join('|')})(?=[\u00a0 ]\p{Lu}))?[\u00a0 ]`
const wordsJoinedBy = (between: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}'’-])${aWord}(?:${between}${aWord})*`, 'gu')
const capitalised = wordsJoinedBy(joint)
/** Nouns with an article between them are no name. */
const capitalisedAmongNouns = wordsJoinedBy(String.raw`[\u00a0 ]`)

/** Where a sentence begins, a capital says nothing. */
const beginning = /(?:^|[.!?:…]["'”’)\]]*\s|\n)[\s"'“‘([>*#•–-]*$/u

/** Words with a capital that are no names, or that begin a sentence. */
const ordinary: ReadonlySet<string> = new Set(
  `a about above according accordingly additionally after all also although an and any are as at attached based because been before below
  best both but by can certainly could dear did do does during each either enclosed even every feel finally first following for from further
  furthermore given had has have having he hence her here his how however i i'd i'll i'm i've if in including instead is it its just kind
  kindly last later let looking many may meanwhile might moreover most my neither next no nor not note nothing now of often on once one only or
  other our ours over per perhaps please re regarding regards second several shall she should since sincerely so some soon still such
  thank thanks that the their them then there therefore these they third this those though through thus to together under unfortunately
  unless until up upon us very was we we'd we'll we're we've well were what when where whereas whether which while who whose why will with
  within without would yes yet you your yours yourself faithfully truly warm warmly
  ask bring call check complete confirm contact keep make pay provide refer return review see send sign take
  dr madam miss mr mrs ms mx prof sir
  monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/),
)

export interface FoundName {
  readonly text: string
  readonly at: number
  /** In lower case, without accents. */
  readonly words: readonly string[]
}

/** The parts of a name that are compared, without accents and a possessive s. */
function wordsOfName(name: string): string[] {
  return foldedWords(name).filter((each) => each.length > 1 && !joints.includes(each))
}

/** The words of a text in lower case, without accents and a possessive s. */
export function foldedWords(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/['’]s(?![\p{L}\p{M}])/gu, '')
  return folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}

/** The words that stand in lower case in a text. */
export function smallWords(text: string): string[] {
  return text.match(/(?<![\p{L}\p{M}'’-])\p{Ll}[\p{L}\p{M}'’-]*/gu) ?? []
}

/**
 * The names in a text, in order. A word that begins a sentence counts unless it is a usual beginning, or stands in lower case
 * elsewhere. In a language that writes nouns with capitals, only several words together count.
 *
 * @param small the words that stand in lower case in other texts
 */
export function findNames(text: string, small: ReadonlySet<string>): FoundName[] {
  const usual = new Set([...ordinary, ...small, ...smallWords(text)])
  const [pattern, least] = writesNounsWithCapitals(text) ? [capitalisedAmongNouns, 2] : [capitalised, 1]
  return [...text.matchAll(pattern)].flatMap(({ 0: match, index }) => {
    const words = match.split(/[\u00a0 ]/)
    const isFirst = beginning.test(text.slice(Math.max(0, index - 20), index))
    const start = words.findIndex((each, place) => !isIn(isFirst && place === 0 ? usual : ordinary, each))
    const end = words.findLastIndex((each) => !isIn(ordinary, each)) + 1
    const name = words.slice(start, end).join(' ')
    const at = index + words.slice(0, start).join(' ').length + (start > 0 ? 1 : 0)
    const parts = wordsOfName(name)
    return start < 0 || parts.length < least ? [] : [{ text: name, at, words: parts }]
  })
}

const isIn = (words: ReadonlySet<string>, word: string): boolean => words.has(word.toLowerCase().replaceAll('’', "'"))

/** Of words within sentences; English letters rarely have as many. */
const mostCapitals = 0.3

function writesNounsWithCapitals(text: string): boolean {
  const within = text.match(/(?<=[\p{L}\p{M},;] )\p{L}[\p{L}\p{M}]+/gu) ?? []
  const capitals = within.filter((each) => /^\p{Lu}/u.test(each))
  return within.length >= 20 && capitals.length > within.length * mostCapitals
}
