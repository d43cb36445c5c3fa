import type { Delta, TokenLogprob } from '../../../models/conversation.ts'
import type { Reply } from '../../generation.ts'
import { event, type ErrorDetails, type EventWriter } from '../dialect.ts'
import { openAiErrorOf } from '../openai.ts'
import { outputItems, outputParts, statusOf } from './items.ts'
import { responseObject, type RequestedResponse, type ResponseIds } from './object.ts'
import {
  streamCall,
  streamText,
  streamReasoning,
  type ItemStream,
  type StreamedItem,
  type StreamedText,
  type StreamedReasoning,
} from './streamed.ts'

/** The events of a response, numbered, in the order of OpenAI's API. */
export function responseEvents(request: RequestedResponse, ids: ResponseIds): EventWriter {
  let sent = 0
  const write = (type: string, fields: object) => event(type, { type, sequence_number: sent++, ...fields })
  const response = responseObject(request, ids)
  const { named, tools } = request.tools
  const output = createOutput({ id: ids.id, named, number: () => sent++, write }, tools.length > 0)
  return {
    opening: [write('response.created', { response }), write('response.in_progress', { response })],
    text: output.text,
    scored: output.scored,
    deltas: (deltas) => deltas.map(output.delta),
    closing(reply) {
      const { events, cutOffCall } = output.end(reply)
      const ended = responseObject(request, reply, reply)
      const items = cutOffCall ? { output: [...outputItems(reply, named), cutOffCall] } : {}
      return [events, write(`response.${statusOf(reply)}`, { response: { ...ended, ...items } })]
    },
    failure: (details, status) => failure(write, details, status),
  }
}

/**
 * The items of the output. An item begins with its first piece, because a reply may begin with any. `keepsTexts`: whether a
 * text ends before the next item begins. Keeping a text costs time, so one that hardly anything can follow is not kept, and
 * ends with the reply.
 */
function createOutput(scope: ItemStream, keepsTexts: boolean) {
  let count = 0
  let open: StreamedItem | undefined
  /** Texts that were not kept. */
  const late: StreamedText[] = []

  function begin<Item extends StreamedItem>(create: (index: number) => Item): { item: Item; events: string } {
    const ended = leave()
    const item = create(count++)
    open = item
    return { item, events: ended + item.begin() }
  }

  function leave(): string {
    const left = open
    open = undefined
    if (left === undefined) return ''
    if (left.kind === 'reasoning') return left.end()
    if (left.kind === 'call') return left.end('completed')
    const text = left.kept()
    if (text !== undefined) return left.end(text, 'completed')
    late.push(left)
    return ''
  }

  const beginText = () => begin((index) => streamText(scope, index, keepsTexts))
  const beginReasoning = () => begin((index) => streamReasoning(scope, index))

  function inReasoning(write: (item: StreamedReasoning) => string): string {
    if (open?.kind === 'reasoning' && !open.isSigned) return write(open)
    const { item, events } = beginReasoning()
    return events + write(item)
  }

  function writeDelta(delta: Delta): string {
    switch (delta.kind) {
      case 'reasoning':
        return delta.text === '' ? '' : inReasoning((item) => item.add(delta.text))
      case 'signature': {
        if (!delta.redacted) return inReasoning((item) => sign(item, delta.signature))
        const { item, events } = beginReasoning()
        return events + sign(item, delta.signature, true)
      }
      case 'call':
        return begin((index) => streamCall(scope, index, delta)).events
      case 'input':
        return open?.kind === 'call' ? open.add(delta.json) : ''
    }
  }

  /** Only the item at the end of the output can be incomplete. A call that was cut off is no part of the reply. */
  function end(reply: Reply): { readonly events: string; readonly cutOffCall: object | undefined } {
    const status = statusOf(reply)
    const parts = outputParts(reply)
    const isEmpty = count === 0 && parts.length > 0
    const begun = isEmpty ? beginText().events : ''
    const ended = late.map((text) => text.end(textAt(text.index), 'completed')).join('')
    const last = open?.kind === 'call' ? open : undefined
    const isCutOff = last && !parts.some((part) => part.kind === 'call' && part.id === last.callId)
    return { events: begun + ended + endLast(), cutOffCall: isCutOff ? last.item(status) : undefined }

    function textAt(index: number): string {
      const part = parts[index]
      return part?.kind === 'text' ? part.text : reply.text
    }

    function endLast(): string {
      if (open?.kind === 'text') return open.end(open.kept() ?? textAt(open.index), status)
      return last ? last.end(isCutOff ? status : 'completed') : leave()
    }
  }

  return {
    text: (delta: string): string => {
      if (open?.kind === 'text') return open.add(delta)
      const { item, events } = beginText()
      return events + item.add(delta)
    },
    scored: (delta: string, logprobs: readonly TokenLogprob[]): string => {
      if (open?.kind === 'text') return open.scored(delta, logprobs)
      // Tokens that are part of no text, such as those of a call, have no place in the output.
      if (delta === '') return ''
      const { item, events } = beginText()
      return events + item.scored(delta, logprobs)
    },
    delta: writeDelta,
    end,
  }
}

/** The signature is written with the end of the item. */
function sign(item: StreamedReasoning, signature: string, redacted?: true): string {
  item.sign(signature, redacted)
  return ''
}

/** The API documents the fields at the top level; its clients look for them under `error`. */
function failure(write: ItemStream['write'], details: ErrorDetails, status: number): string {
  const error = openAiErrorOf(details, status)
  const { code, message: reason, param } = error
  return write('error', { code, message: reason, param, error })
}
