import { Problem } from '../../../platform/problems.ts'
import { withoutPatterns } from './patterns.ts'
import type { Blocklist } from './blocklist.ts'

/** The fewest characters: of a password alone, and with a second factor (NIST SP 800-63B-4 section 3.1.1.2). */
export const minimumLength = { alone: 15, withFactor: 8 }
/** Letters and digits that a password must have besides keyboard rows, dates and well-known sentences. */
const fewestUnpatterned = 6
/** Bytes of UTF-8. */
export const maxPasswordBytes = 1024

export interface NewPassword {
  readonly password: string
  /** The address of its person. */
  readonly email: string
  /** The fewest characters. */
  readonly minimum: number
}

/** Which passwords may be chosen. */
export interface PasswordPolicy {
  /** Returns the password as it is hashed. Throws Problem `invalid_field` with the reason. */
  check(this: void, chosen: NewPassword): Promise<string>
}

interface PolicyNeeds {
  readonly blocklist: Blocklist
  /** Names of the service and the firm. */
  readonly names: readonly string[]
}

/** Length and guessability count. There are no rules of composition, and nothing is cut off. */
export function createPasswordPolicy({ blocklist, names }: PolicyNeeds): PasswordPolicy {
  return Object.freeze<PasswordPolicy>({
    async check({ password, email, minimum }) {
      const read = readPassword(password)
      if (read === undefined) throw refused(`must be at most ${maxPasswordBytes} bytes of valid text`)
      const length = passwordLength(read)
      if (length < minimum) throw refused(`must have at least ${minimum} characters, and has ${length}`)
      const why = await weaknessOf(read, { blocklist, words: wordsOf([...names, email]), minimum })
      if (why !== undefined) throw refused(`is easy to guess: ${why}. Choose another one`)
      return read
    },
  })
}

/** The form in which a password is hashed; undefined if no password can be that text. */
export function readPassword(text: string): string | undefined {
  if (text.length > maxPasswordBytes || !text.isWellFormed()) return undefined
  const normal = text.normalize('NFC')
  return Buffer.byteLength(normal) > maxPasswordBytes ? undefined : normal
}

/** Characters as people count them: code points. */
export function passwordLength(password: string): number {
  return Array.from(password.normalize('NFC')).length
}

interface Known {
  readonly blocklist: Blocklist
  readonly words: readonly string[]
  readonly minimum: number
}

/** Why a password is easy to guess; undefined if it is not. */
async function weaknessOf(password: string, { blocklist, words, minimum }: Known): Promise<string | undefined> {
  const text = fold(password)
  const unit = repeatedUnitOf(text)
  if (unit.length < text.length && unit.length < minimum) return 'it repeats a shorter text'
  if (isSequence(text)) return 'its characters follow one another'
  const unpatterned = withoutPatterns(text)
  if (unpatterned !== undefined && unpatterned.length < fewestUnpatterned)
    return 'it consists of keyboard rows, dates or a well-known sentence'
  const core = coreOf(text)
  const rest = core && coreOf(words.reduce((left, word) => left.replaceAll(word, ' '), core))
  if (core !== rest && rest === '') return 'it consists of names of this service, of the firm or of your address'
  const found = await blocklist.find([text, core, rest, unpatterned ?? ''].filter((each) => each !== ''))
  if (found.includes(text)) return 'it is one of the most common passwords'
  if (found.length > 0) return 'it is a common word or password with a few more characters'
  return undefined
}

/** Alike for all ways to write the same letters. */
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** The word that people put digits and signs around. Empty if they are most of the text, or all of it. */
function coreOf(text: string): string {
  const core = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  return text.length - core.length <= core.length + 4 ? core : ''
}

/** The shortest text of which this one is a repetition; the text itself if it repeats nothing. */
function repeatedUnitOf(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1))
}

/** Whether every character is the neighbour of the one before it: `abcd`, `7654`, `8901`. */
function isSequence(text: string): boolean {
  const characters = Array.from(text)
  return [1, -1].some((step) => characters.every((each, n) => n === 0 || isNext(characters[n - 1] ?? '', each, step)))
}

function isNext(one: string, other: string, step: number): boolean {
  if (/^\d\d$/.test(one + other)) return (Number(one) + step + 10) % 10 === Number(other)
  return (one.codePointAt(0) ?? 0) + step === other.codePointAt(0)
}

/** The words of names and addresses, longest first. Short ones may be part of any password. */
function wordsOf(texts: readonly string[]): string[] {
  const folded = texts.map(fold)
  return [...new Set([...folded, ...folded.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u))])]
    .filter((word) => word.length >= 3)
    .toSorted((one, other) => other.length - one.length)
}

function refused(reason: string): Problem {
  return new Problem('invalid_field', `The password ${reason}.`, { field: 'password' })
}
