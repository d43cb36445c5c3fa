import type { RequestForm } from '../../vendors/vendor.ts'
import { vendors } from '../../vendors/vendors.ts'

const common: RequestForm = { bound: 'max_tokens', streamOptions: true, oneSystem: false }

const formsByHost = vendors.flatMap(({ form }) => form ?? [])

function firstForm(origin: string): RequestForm {
  const { hostname } = new URL(origin)
  const known = formsByHost.find(({ hosts }) => hosts.test(hostname))
  return known ? { ...common, bound: known.bound } : common
}

/** The forms in which servers took the last request for one model, by their origins. */
export function createForms() {
  const forms = new Map<string, RequestForm>()
  return Object.freeze({
    of: (origin: string): RequestForm => forms.get(origin) ?? firstForm(origin),
    keep: (origin: string, form: RequestForm): void => void forms.set(origin, form),
  })
}

/** What servers say of a field that they do not take. A value that they do not take is another matter. */
const unsupported = /unsupported[ _]param|unrecogni[sz]ed|unknown|unexpected|not permitted|extra[ _]forbidden/i

/** What servers say of a system message in a place where they take none. */
const misplacedSystem =
  /\bsystem\W{1,3}(message|role|is)[^.]{0,40}(\bbeginning|\bstart|\bfirst|not (allowed|supported))/i

/**
 * The form in which a server that refused a request may take it; undefined if the refusal is about something else. `body` is that of
 * the refusal.
 */
export function formAfterRefusal(sent: RequestForm, status: number, body: string): RequestForm | undefined {
  if (status !== 400 && status !== 422) return undefined
  const text = body.slice(0, 4096)
  if (sent.streamOptions && text.includes('stream_options') && unsupported.test(text)) {
    return { ...sent, streamOptions: false }
  }
  if (!sent.oneSystem && misplacedSystem.test(text)) return { ...sent, oneSystem: true }
  const other = sent.bound === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const namesOther = new RegExp(`\\buse\\W{1,3}${other}\\b`, 'i').test(text)
  const isAboutBound = new RegExp(`\\b${sent.bound}\\b`).test(text) && (namesOther || unsupported.test(text))
  return isAboutBound ? { ...sent, bound: other } : undefined
}

/** The messages of a request with one system message, at the beginning. Later ones are sent as the user's. */
export function withOneSystem(messages: readonly unknown[]): readonly unknown[] {
  const start = messages.findIndex((message) => !isSystem(message))
  const leading = messages.slice(0, start).filter(isSystem)
  const later = messages.slice(start).map((message) => (isSystem(message) ? { ...message, role: 'user' } : message))
  const [first] = leading
  return first ? [{ ...first, content: joined(leading.map(({ content }) => content)) }, ...later] : later
}

interface SystemMessage {
  readonly role: 'system'
  readonly content: unknown
}

const isSystem = (message: unknown): message is SystemMessage =>
  typeof message === 'object' && message !== null && 'role' in message && message.role === 'system'

function joined(contents: readonly unknown[]): unknown {
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n')
  return contents.flatMap((content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))
}
