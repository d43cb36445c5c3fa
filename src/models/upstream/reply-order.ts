import type { Delta } from '../conversation.ts'
import { createCallInput, type CallInput } from './call-input.ts'
import type { CallFragment } from './chat-deltas.ts'
import { newCallId } from './chat-completions.ts'
import { unusable } from './failure.ts'
import { createJoiner, type Joiner } from './joiner.ts'

/** Text, or a piece of anything else. */
export type OrderedPiece = string | Delta

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
  readonly id: string
  readonly joiner: Joiner
  readonly input: CallInput
  tool: string
  state: 'waiting' | 'open' | 'over'
}

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
    if (piece.tool !== '') begin(piece)
  }

  function begin({ id, tool, input: { json } }: Call): void {
    pass({ kind: 'call', id, tool })
    if (json !== '') pass({ kind: 'input', json })
  }

  /** Ends the open call, and passes on what waited up to the next call that is not over. */
  function close(call: Call): void {
    const rest = call.joiner.rest()
    if (rest !== '') pass({ kind: 'input', json: rest })
    if (call.tool === '') throw unusable('a call without a tool')
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
    const json = call.joiner.add(fragment.json)
    if (call.state === 'over') {
      if (json.trim() !== '') throw unusable('a call that goes on after its end')
      return
    }
    const isNamed = call.tool !== ''
    call.tool ||= fragment.tool
    call.input.add(json)
    if (call.state === 'waiting' || call.tool === '') return
    if (!isNamed) begin(call)
    else if (json !== '') pass({ kind: 'input', json })
    if (waiting.length > 0 && json.trimEnd().endsWith('}')) closeIfWhole(call)
  }

  function callOf(fragment: CallFragment): Call {
    const known = knownCall(fragment)
    if (known) return known
    if (fragment.index === undefined && fragment.id === '' && fragment.tool === '') {
      throw unusable('a piece of a call that has not begun')
    }
    const { index, id } = fragment
    const call: Call = {
      kind: 'growing',
      index,
      id: id || newCallId(),
      joiner: createJoiner(),
      input: createCallInput(),
      tool: '',
      state: 'waiting',
    }
    calls.push(call)
    add(call)
    return call
  }

  function knownCall({ index, id, tool, json }: CallFragment): Call | undefined {
    const here = index === undefined ? calls : calls.filter((call) => call.index === index)
    // Some servers send every call with index 0.
    if (id !== '') return here.find((call) => call.id === id)
    const call = here.at(-1)
    const isAnother = tool !== '' && (index === undefined || (json !== '' && call?.input.isWhole() === true))
    return isAnother ? undefined : call
  }

  return {
    add,
    addFragment,
    end() {
      while (open) close(open)
    },
  }
}
