import type { Delta } from '../../conversation.ts'
import type { ScoredText } from '../../model.ts'
import type { CallFragment } from './chat-deltas.ts'
import { newCallId } from './chat-completions.ts'
import { unusable } from '../failure.ts'
import { createJoiner, type Joiner } from '../joiner.ts'

/** Text, or a piece of anything else. */
export type OrderedPiece = string | ScoredText | Delta

/**
 * Orders the pieces of a stream so that those of one call are consecutive. Pieces that arrive during a call wait until it
 * ends. A call is over when its arguments are whole and something else begins, or when the stream ends.
 */
export interface ReplyOrder {
  add(piece: OrderedPiece): void
  /** Throws Failure for a fragment that belongs to no call. */
  readonly addFragment: (fragment: CallFragment) => void
  /** Passes on what waits. Throws Failure if a call has no tool. */
  end(): void
}

interface Call {
  readonly kind: 'growing'
  readonly index: number | undefined
  readonly joiner: Joiner
  readonly input: CallInput
  /** As the server sent it, with whichever piece. Empty if it has not. */
  id: string
  tool: string
  /** Whether its beginning was passed on. */
  isBegun: boolean
  state: 'waiting' | 'open' | 'over'
}

/**
 * Whether a piece that may belong to this call begins another. Some servers send every call with index 0 or with the same id, some send
 * the tool or the id of a call in a later piece, and some a new id with every piece.
 */
function isAnother({ id: known, tool: knownTool, input }: Call, { index, id, tool, json }: CallFragment): boolean {
  const isSame = id !== '' && id === known
  if (id !== '' && known !== '' && !isSame) {
    return index === undefined || tool !== '' || json === '' || input.isWhole()
  }
  if (tool === '' || knownTool === '') return false
  if (index === undefined && !isSame) return true
  if (!input.isWhole()) return false
  return tool !== knownTool || (json !== '' && !(isSame && json === input.json))
}

/** Some servers send a call that was streamed once more at its end. */
const isRepetition = ({ tool, json }: CallFragment, { input }: Call): boolean =>
  tool !== '' && json !== '' && json === input.json && input.isWhole()

export function createReplyOrder(pass: (piece: OrderedPiece) => void): ReplyOrder {
  const calls: Call[] = []
  const waiting: (OrderedPiece | Call)[] = []
  /** The call whose pieces are passed on as they arrive. */
  let open: Call | undefined

  function add(piece: OrderedPiece | Call): void {
    if (open) closeIfWhole(open)
    if (open) waiting.push(piece)
    else take(piece)
  }

  function take(piece: OrderedPiece | Call): void {
    if (typeof piece === 'string' || piece.kind !== 'growing') return pass(piece)
    piece.state = 'open'
    open = piece
    if (isKnown(piece)) begin(piece)
  }

  /** Its id may follow its tool, but not its arguments. */
  const isKnown = ({ id, tool, input }: Call): boolean => tool !== '' && (id !== '' || input.json !== '')

  function begin(call: Call): void {
    const { id, tool, input } = call
    if (tool === '') throw unusable('a call without a tool')
    call.isBegun = true
    pass({ kind: 'call', id: id || newCallId(), tool })
    if (input.json !== '') pass({ kind: 'input', json: input.json })
  }

  /** Ends the open call, and passes on what waited up to the next call that is not over. */
  function close(call: Call): void {
    if (!call.isBegun) begin(call)
    const rest = call.joiner.rest()
    if (rest !== '') pass({ kind: 'input', json: rest })
    call.state = 'over'
    open = undefined
    while (open === undefined) {
      const next = waiting.shift()
      if (next === undefined) return
      take(next)
      if (waiting.length > 0) closeIfOpenAndWhole()
    }
  }

  function closeIfOpenAndWhole(): void {
    if (open) closeIfWhole(open)
  }

  function closeIfWhole(call: Call): void {
    if (call.tool !== '' && call.input.isWhole()) close(call)
  }

  function addFragment(fragment: CallFragment): void {
    const call = callOf(fragment)
    if (isRepetition(fragment, call)) return
    const json = call.joiner.add(fragment.json)
    call.id ||= fragment.id
    if (call.state === 'over') {
      if (json.trim() !== '') throw unusable('a call that goes on after its end')
      return
    }
    call.tool ||= fragment.tool
    call.input.add(json)
    if (call.state === 'waiting' || (!call.isBegun && !isKnown(call))) return
    if (!call.isBegun) begin(call)
    else if (json !== '') pass({ kind: 'input', json })
    if (waiting.length > 0 && json.trimEnd().endsWith('}')) closeIfWhole(call)
  }

  function callOf(fragment: CallFragment): Call {
    const known = knownCall(fragment)
    if (known) return known
    if (fragment.index === undefined && fragment.id === '' && fragment.tool === '') {
      throw unusable('a piece of a call that has not begun')
    }
    const call: Call = {
      kind: 'growing',
      index: fragment.index,
      joiner: createJoiner(),
      input: createCallInput(),
      id: fragment.id,
      tool: '',
      isBegun: false,
      state: 'waiting',
    }
    calls.push(call)
    add(call)
    return call
  }

  function knownCall(fragment: CallFragment): Call | undefined {
    const { index, id } = fragment
    const here = index === undefined ? calls : calls.filter((call) => call.index === index)
    const call = here.findLast((each) => id !== '' && each.id === id) ?? here.at(-1)
    return call && isAnother(call, fragment) ? undefined : call
  }

  return {
    add,
    addFragment,
    end() {
      while (open) close(open)
    },
  }
}

/** The arguments of a call that arrive in pieces. */
interface CallInput {
  readonly json: string
  add(piece: string): void
  /** Whether they are a whole JSON text. */
  isWhole(): boolean
}

/** Looks at each character once: arguments may be long, and the question is asked with every piece that follows them. */
function createCallInput(): CallInput {
  let json = ''
  let depth = 0
  let isInString = false
  let isEscaped = false

  function look(character: string): void {
    if (isEscaped) isEscaped = false
    else if (isInString && character === '\\') isEscaped = true
    else if (character === '"') isInString = !isInString
    else if (isInString) return
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }

  return {
    get json() {
      return json
    },
    add(piece) {
      json += piece
      for (const character of piece) look(character)
    },
    isWhole: () => depth === 0 && !isInString && isJson(json),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
