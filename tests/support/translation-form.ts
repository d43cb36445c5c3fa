import type { Part, ResultPart, TextPart } from '../../src/models/conversation.ts'

/** What an API has a place for. A conversation loses the rest there: nothing else may be lost. */
export interface Form {
  /** Marks for the cache. `content`: on texts, files and tools, not on calls and results. */
  readonly marks: 'all' | 'content' | 'none'
  /** Whether a result can have a mark but no text. */
  readonly marksEmptyResults: boolean
  /** Whether a result can say that its call failed. */
  readonly failedResults: boolean
  /** Whether an image can say how closely to look at it. */
  readonly detail: boolean
  /**
   * Whether a program parses the arguments of calls. JavaScript then keeps no digits beyond 2^53, no spaces, and the order of
   * names only if they are not integers.
   */
  readonly parsesInput: boolean
  /**
   * Earlier reasoning. `signed`: others are not accepted. `in calls`: their text, in turns with calls, where the vendor requires it.
   */
  readonly reasoning: 'all' | 'signed' | 'in calls' | 'none'
  /** Whether a turn can have only blank texts beside its other parts. Anthropic refuses them, so provider packages are not given any. */
  readonly blankTexts: boolean
}

/** A turn of a conversation, at a client or at an upstream. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly Part[]
}

/** A conversation as it fits into forms, one after the other. */
export function fitted(turns: readonly Turn[], ...forms: readonly Form[]): readonly Turn[] {
  return forms.reduce(
    (fitting, form) =>
      fitting.map(({ role, parts }) => {
        const kept = textsIn(reasoningIn(parts, form), form)
        return { role, parts: kept.map((part) => fit(part, form)) }
      }),
    turns,
  )
}

function reasoningIn(parts: readonly Part[], { reasoning }: Form): readonly Part[] {
  if (reasoning === 'all') return parts
  const others = parts.filter(({ kind }) => kind !== 'reasoning')
  if (reasoning === 'none') return others
  if (reasoning === 'signed') return parts.filter((part) => part.kind !== 'reasoning' || part.signature !== undefined)
  if (!parts.some(({ kind }) => kind === 'call')) return others
  const text = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('\n')
  return [{ kind: 'reasoning', text }, ...others]
}

function textsIn(parts: readonly Part[], { blankTexts }: Form): readonly Part[] {
  if (blankTexts || parts.some((part) => part.kind === 'text' && part.text.trim() !== '')) return parts
  return parts.filter(({ kind }) => kind !== 'text')
}

function fit(part: Part, form: Form): Part {
  switch (part.kind) {
    case 'text':
      return form.marks === 'none' ? { ...part, cache: undefined } : part
    case 'file':
      return { ...part, ...(form.marks === 'none' && { cache: undefined }), ...(!form.detail && { detail: undefined }) }
    case 'reasoning':
      return part
    case 'call': {
      const input = form.parsesInput ? JSON.stringify(JSON.parse(part.input)) : part.input
      return { ...part, input, ...(form.marks !== 'all' && { cache: undefined }) }
    }
    case 'result':
      return fitResult(part, form)
  }
}

function fitResult(part: ResultPart, form: Form): ResultPart {
  const content = part.content
    .map((each) => fit(each, form))
    .filter((each) => each.kind === 'text' || each.kind === 'file')
  const hasText = content.some(({ kind }) => kind === 'text')
  const isMarked = form.marks === 'all' && (form.marksEmptyResults || hasText)
  return {
    ...part,
    content,
    ...(!isMarked && { cache: undefined }),
    ...(!form.failedResults && { isError: undefined }),
  }
}

/** A piece of a conversation, as it is compared. */
export type Seen = Readonly<Record<string, unknown>>

/**
 * A conversation as a list that is the same in every API. A result has one text, and the mark of its last marked text if it
 * has none. Its files follow the results of the turn, because not every API has files in results. Texts in a row are one.
 */
export function seen(turns: readonly Turn[]): readonly Seen[] {
  const pieces = turns.flatMap(({ role, parts }): readonly Seen[] => {
    const results = parts.filter((part) => part.kind === 'result')
    const files = results.flatMap(({ content }) => content.filter(({ kind }) => kind === 'file'))
    const rest = [...files, ...parts.filter(({ kind }) => kind !== 'result')]
    return [...results.map(resultSeen), ...rest.map(pieceSeen)].map((piece) => ({ role, ...piece }))
  })
  const joined = pieces.reduce<Seen[]>((kept, piece) => {
    const before = kept.at(-1)
    const isSame = piece['kind'] === 'text' && before?.['kind'] === 'text' && before['role'] === piece['role']
    if (!isSame || before['cache'] !== undefined) return [...kept, piece]
    return [...kept.slice(0, -1), { ...piece, text: `${String(before['text'])}\n${String(piece['text'])}` }]
  }, [])
  return joined.map((piece) => Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== undefined)))
}

function pieceSeen(part: Part): Seen {
  if (part.kind !== 'file') return { ...part }
  const { kind, mediaType, data, name, detail, cache } = part
  return { kind, mediaType, data, name, detail, cache }
}

function resultSeen({ kind, callId, content, isError, cache }: ResultPart): Seen {
  const texts = content.filter((part): part is TextPart => part.kind === 'text')
  const text = texts.map((part) => part.text).join('\n')
  return { kind, callId, text, isError, cache: cache ?? texts.findLast((part) => part.cache)?.cache }
}
