import type { Delta, ReplyPart, TokenLogprob } from '../models/conversation.ts'
import { logprobsOfTexts } from './logprobs.ts'
import type { Texts } from './truncation.ts'

/** The content of a streamed reply while it grows. */
export interface ReplyContent {
  addTexts(texts: Texts): void
  addDeltas(deltas: readonly Delta[]): void
  /** All texts, joined. */
  text(): string
  /** All parts in their order; undefined if there are only texts. */
  parts(): readonly ReplyPart[] | undefined
}

/** A part that may still grow. The text of a call is its input. */
interface Growing {
  readonly kind: ReplyPart['kind']
  readonly id: string
  readonly tool: string
  readonly text: GrowingText
  signature: string | undefined
  redacted: true | undefined
}

export function createReplyContent(): ReplyContent {
  const growing: Growing[] = []

  function last(kind: 'text' | 'reasoning'): Growing {
    const part = growing.at(-1)
    return part?.kind === kind && part.signature === undefined ? part : begin(kind)
  }

  function begin(kind: ReplyPart['kind'], id = '', tool = ''): Growing {
    const part: Growing = { kind, id, tool, text: createText(), signature: undefined, redacted: undefined }
    growing.push(part)
    return part
  }

  function addDelta(delta: Delta): void {
    if (delta.kind === 'reasoning') last('reasoning').text.add([delta.text])
    else if (delta.kind === 'call') begin('call', delta.id, delta.tool)
    else if (delta.kind === 'input') growing.at(-1)?.text.add([delta.json])
    else {
      const { signature, redacted } = delta
      Object.assign(redacted ? begin('reasoning') : last('reasoning'), { signature, redacted })
    }
  }

  return {
    addTexts: (texts) => last('text').text.add(texts),
    addDeltas: (deltas) => deltas.forEach(addDelta),
    text: () => growing.map(({ kind, text }) => (kind === 'text' ? text.whole() : '')).join(''),
    parts: () => (growing.every(({ kind }) => kind === 'text') ? undefined : growing.map(partOf)),
  }
}

function partOf({ kind, id, tool, text, signature, redacted }: Growing): ReplyPart {
  const whole = text.whole()
  if (kind === 'text') return { kind, text: whole }
  // A call without arguments may have no input at all.
  if (kind === 'call') return { kind, id, tool, input: whole === '' ? '{}' : whole }
  return { kind, text: whole, ...(signature !== undefined && { signature }), ...(redacted && { redacted }) }
}

/** Pieces that are kept separately before they are joined. */
const mostPieces = 64

interface GrowingText {
  add(texts: Texts): void
  whole(): string
}

/** A growing text. Its pieces are joined regularly: a word kept on its own takes ten times its bytes. */
function createText(): GrowingText {
  let joined = ''
  let pieces: string[] = []
  const whole = (): string => joined + pieces.join('')
  return {
    add(texts) {
      for (const each of texts) pieces.push(each)
      if (pieces.length < mostPieces) return
      joined = whole()
      pieces = []
    },
    whole,
  }
}

/** The pieces of a whole reply, as a stream would send them. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly logprobs?: readonly TokenLogprob[] | undefined }
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[] }

export function piecesOf({
  text,
  parts,
  logprobs,
}: {
  readonly text: string
  readonly parts?: readonly ReplyPart[] | undefined
  readonly logprobs?: readonly TokenLogprob[] | undefined
}): readonly Piece[] {
  const pieces = parts?.map(pieceOf) ?? (text === '' ? [] : [{ kind: 'text' as const, text }])
  return logprobs ? withLogprobs(pieces, logprobs) : pieces
}

/** The texts with the log probabilities of their tokens. */
function withLogprobs(pieces: readonly Piece[], logprobs: readonly TokenLogprob[]): readonly Piece[] {
  const texts = pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : []))
  // A reply of calls only can have them, too.
  if (texts.length === 0) return [...pieces, { kind: 'text', text: '', logprobs }]
  const each = logprobsOfTexts(texts, logprobs).values()
  return pieces.map((piece) => (piece.kind === 'text' ? { ...piece, logprobs: each.next().value } : piece))
}

function pieceOf(part: ReplyPart): Piece {
  if (part.kind === 'text') return part
  if (part.kind === 'call') {
    const { id, tool, input: json } = part
    return {
      kind: 'deltas',
      deltas: [
        { kind: 'call', id, tool },
        { kind: 'input', json },
      ],
    }
  }
  const { text, signature, redacted } = part
  const reasoning: readonly Delta[] = text === '' ? [] : [{ kind: 'reasoning', text }]
  const signed: readonly Delta[] = signature === undefined ? [] : [{ kind: 'signature', signature, redacted }]
  return { kind: 'deltas', deltas: [...reasoning, ...signed] }
}
