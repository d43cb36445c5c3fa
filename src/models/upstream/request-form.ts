/** How a server takes the fields in which servers differ. */
export interface RequestForm {
  /** The field for the most tokens of a reply. */
  readonly bound: 'max_tokens' | 'max_completion_tokens'
  /** Whether it takes `stream_options`, which asks for the usage of a stream. */
  readonly streamOptions: boolean
}

const common: RequestForm = { bound: 'max_tokens', streamOptions: true }

/** OpenAI takes `max_completion_tokens` for all of its models. Many other servers ignore it, and an unlimited reply is the worse failure. */
function firstForm(origin: string): RequestForm {
  const { hostname } = new URL(origin)
  return hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com')
    ? { ...common, bound: 'max_completion_tokens' }
    : common
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
  const other = sent.bound === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const namesOther = new RegExp(`\\buse\\W{1,3}${other}\\b`, 'i').test(text)
  const isAboutBound = new RegExp(`\\b${sent.bound}\\b`).test(text) && (namesOther || unsupported.test(text))
  return isAboutBound ? { ...sent, bound: other } : undefined
}
