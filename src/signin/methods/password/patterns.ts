/** Keys next to one another on QWERTY, QWERTZ and AZERTY keyboards, by row and by column, and other orders known by heart. */
const orders = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1qay2wsx3edc4rfv5tgb6zhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
].flatMap((order) => [order, Array.from(order).toReversed().join('')])

/** The shortest part of such an order that is no coincidence. */
const shortestRun = 4

/** Sentences that everyone knows, as letters. */
const phrases = [
  'correcthorsebatterystaple',
  'tobeornottobethatisthequestion',
  'tobeornottobe',
  'thequickbrownfoxjumpsoverthelazydog',
  'thequickbrownfox',
  'maytheforcebewithyou',
  'iamyourfather',
  'onceuponatime',
  'longtimeagoinagalaxyfarfaraway',
  'allyourbasearebelongtous',
  'inthebeginningwastheword',
  'inthebeginninggodcreatedtheheavensandtheearth',
  'ourfatherwhoartinheaven',
  'jesuslovesyou',
  'ithinkthereforeiam',
  'cogitoergosum',
  'loremipsumdolorsitamet',
  'callmeishmael',
  'itwasthebestoftimesitwastheworstoftimes',
  'onesmallstepforman',
  'ihaveadream',
  'godsavethequeen',
  'godsavetheking',
  'elementarymydearwatson',
  'winteriscoming',
  'houstonwehaveaproblem',
  'happybirthdaytoyou',
  'twinkletwinklelittlestar',
  'maryhadalittlelamb',
  'letitbe',
  'wearethechampions',
  'wewillrockyou',
  'nevergonnagiveyouup',
  'whatdoesthefoxsay',
  'openthepodbaydoorshal',
  'oneringtorulethemall',
  'youshallnotpass',
  'iloveyousomuch',
  'iloveyouforever',
  'letmeinplease',
  'thisismypassword',
]

const year = '(?:19|20)\\d\\d'
const [day, month] = ['(?:0[1-9]|[12]\\d|3[01])', '(?:0[1-9]|1[0-2])']
const date = new RegExp(`${day}${month}${year}|${month}${day}${year}|${year}${month}${day}|${year}`, 'g')

/**
 * The letters and digits of a folded text that are left without keyboard rows, orders, repeated characters, dates and well-known
 * sentences; undefined if it has none of these.
 */
export function withoutPatterns(text: string): string | undefined {
  const compact = text.replaceAll(/[^\p{L}\p{N}]/gu, '')
  const plain = phrases.reduce((left, phrase) => left.replaceAll(phrase, ''), compact)
  const rest = withoutRuns(plain.replaceAll(date, '').replaceAll(/(.)\1{2,}/gu, ''))
  return rest === compact ? undefined : rest
}

function withoutRuns(text: string): string {
  let rest = ''
  for (let at = 0; at < text.length;) {
    const length = runAt(text, at)
    if (length < shortestRun) rest += text.charAt(at)
    at += length < shortestRun ? 1 : length
  }
  return rest
}

/** The length of the longest part of an order that begins there. */
function runAt(text: string, at: number): number {
  let length = 1
  while (at + length < text.length && orders.some((order) => order.includes(text.slice(at, at + length + 1)))) length++
  return length
}
