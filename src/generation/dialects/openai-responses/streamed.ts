import type { CallPart, TokenLogprob } from '../../../models/conversation.ts'
import { event, jsonAround } from '../dialect.ts'
import { writtenLogprobs } from '../openai.ts'
import { callItem, callItemId, itemId, messageItem, textPart, type ItemStatus } from './items.ts'
import { customInput, type NamedTools } from './named-tools.ts'
import { reasoningItem } from './reasoning.ts'

/** The stream that items are written to. */
export interface ItemStream {
  /** The id of the generation. */
  readonly id: string
  readonly named: NamedTools
  /** The number of the next event. */
  readonly number: () => number
  /** Returns an event with its number. */
  readonly write: (type: string, fields: object) => string
}

/** An item of the output while it is streamed. Its methods return events. */
export type StreamedItem = StreamedText | StreamedReasoning | StreamedCall

export interface StreamedText {
  readonly kind: 'text'
  readonly index: number
  begin(): string
  add(delta: string): string
  scored(delta: string, logprobs: readonly TokenLogprob[]): string
  /** The text so far; undefined if it is not kept. */
  kept(): string | undefined
  end(text: string, status: ItemStatus): string
}

const textDelta = 'response.output_text.delta'

export function streamText({ id: generation, write, number }: ItemStream, index: number, keeps: boolean): StreamedText {
  const id = itemId('msg', generation, index)
  const content = { item_id: id, output_index: index, content_index: 0 }
  const rest = jsonAround((delta) => ({ ...content, delta, logprobs: [] }))
  const texts: string[] | undefined = keeps ? [] : undefined
  const all: TokenLogprob[] = []
  return {
    kind: 'text',
    index,
    begin: () =>
      write('response.output_item.added', { output_index: index, item: messageItem(id, 'in_progress', []) }) +
      write('response.content_part.added', { ...content, part: textPart('') }),
    add(delta) {
      texts?.push(delta)
      return event(textDelta, `{"type":"${textDelta}","sequence_number":${number()},${rest(delta).slice(1)}`)
    },
    scored(delta, logprobs) {
      texts?.push(delta)
      all.push(...logprobs)
      return write(textDelta, { ...content, delta, logprobs: writtenLogprobs(logprobs) })
    },
    kept: () => texts?.join(''),
    end(text, status) {
      const part = textPart(text, all)
      return (
        write('response.output_text.done', { ...content, text, logprobs: part.logprobs }) +
        write('response.content_part.done', { ...content, part }) +
        write('response.output_item.done', { output_index: index, item: messageItem(id, status, [part]) })
      )
    },
  }
}

export interface StreamedReasoning {
  readonly kind: 'reasoning'
  begin(): string
  add(delta: string): string
  /** Nothing can be added afterwards. */
  readonly isSigned: boolean
  sign(signature: string, redacted?: true): void
  end(): string
}

/** Its summary begins with its first text: a vendor may withhold it. */
export function streamReasoning({ id: generation, write }: ItemStream, index: number): StreamedReasoning {
  const id = itemId('rs', generation, index)
  const place = { item_id: id, output_index: index, summary_index: 0 }
  let text = ''
  let signature: string | undefined
  let redacted: true | undefined
  return {
    kind: 'reasoning',
    begin: () =>
      write('response.output_item.added', { output_index: index, item: { id, type: 'reasoning', summary: [] } }),
    add(delta) {
      const part = { type: 'summary_text', text: '' }
      const begun = text === '' ? write('response.reasoning_summary_part.added', { ...place, part }) : ''
      text += delta
      return begun + write('response.reasoning_summary_text.delta', { ...place, delta })
    },
    get isSigned() {
      return signature !== undefined
    },
    sign(given, isRedacted) {
      signature = given
      redacted = isRedacted
    },
    end() {
      const part = { type: 'summary_text', text }
      const summary =
        text === ''
          ? ''
          : write('response.reasoning_summary_text.done', { ...place, text }) +
            write('response.reasoning_summary_part.done', { ...place, part })
      const item = reasoningItem(id, { text, signature, redacted })
      return summary + write('response.output_item.done', { output_index: index, item })
    },
  }
}

export interface StreamedCall {
  readonly kind: 'call'
  /** The id that its result will name. */
  readonly callId: string
  begin(): string
  add(json: string): string
  end(status: ItemStatus): string
  /** As its last event has it. */
  item(status: ItemStatus): object
}

export function streamCall(
  { id: generation, named, write }: ItemStream,
  index: number,
  { id: callId, tool }: Pick<CallPart, 'id' | 'tool'>,
): StreamedCall {
  const id = callItemId(generation, index, tool, named)
  const place = { item_id: id, output_index: index }
  const { type, name } = named.get(tool) ?? { type: 'function', name: tool }
  const itemOf = (status: ItemStatus, input: string) => callItem(id, status, { id: callId, tool, input }, named)
  let written = ''
  // The model may write nothing for a call without arguments.
  const whole = (status: ItemStatus) => (written === '' && status === 'completed' ? '{}' : written)
  return {
    kind: 'call',
    callId,
    begin: () => write('response.output_item.added', { output_index: index, item: itemOf('in_progress', '') }),
    add(json) {
      written += json
      return type === 'function' ? write('response.function_call_arguments.delta', { ...place, delta: json }) : ''
    },
    end(status) {
      const input = whole(status)
      return (
        inputEvents(input) + write('response.output_item.done', { output_index: index, item: itemOf(status, input) })
      )
    },
    item: (status) => itemOf(status, whole(status)),
  }

  /** The events that end the input of a call. The input of a custom tool arrives as a JSON string, which can be decoded only at its end. */
  function inputEvents(json: string): string {
    if (type === 'tool_search') return ''
    if (type === 'function') return write('response.function_call_arguments.done', { ...place, name, arguments: json })
    const text = customInput(json)
    return (
      write('response.custom_tool_call_input.delta', { ...place, delta: text }) +
      write('response.custom_tool_call_input.done', { ...place, input: text })
    )
  }
}
