import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RunLimits, StopReason } from '../model.ts'
import {
  FinishReason,
  firstChoice,
  IndexField,
  stopFields,
  parse,
  stopReasonOf,
  TextField,
  UsageField,
} from './chat-completions.ts'
import { unusable } from './failure.ts'

/** The fields of a stream event that are used. Reasoning is not part of the reply, but it counts as generated. */
const chunk = Compile(
  Type.Object({
    choices: Type.Array(
      Type.Object({
        index: IndexField,
        delta: Type.Optional(
          Type.Union([
            Type.Object({ content: TextField, reasoning: TextField, reasoning_content: TextField }),
            Type.Null(),
          ]),
        ),
        finish_reason: Type.Optional(Type.Union([FinishReason, Type.Null()])),
        ...stopFields,
      }),
    ),
    usage: UsageField,
  }),
)
const fault = Compile(Type.Object({ error: Type.Object({}) }))

/** One event of a stream. */
export interface Delta {
  readonly text: string
  /** Whether the event contains generated text, reasoning included. */
  readonly generated: boolean
  readonly stopReason: StopReason | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/**
 * Creates a reader for the events of one stream, in order. The reader throws Failure for data that is not an event. The
 * Failure is repeatable if the data is an error of the upstream.
 */
export function createDeltaReader({ stop }: Pick<RunLimits, 'stop'>): (data: string) => Delta {
  let frame: Frame | undefined
  return (data) => {
    const text = frame && textIn(data, frame)
    if (frame && text !== undefined) return { ...frame.delta, text }
    const delta = readEvent(data, stop)
    frame = delta.text === '' ? frame : frameOf(data, delta)
    return delta
  }
}

function readEvent(data: string, stop: RunLimits['stop']): Delta {
  const event = parse(data)
  if (fault.Check(event)) throw unusable('an error instead of an event', true)
  if (!chunk.Check(event)) throw unusable('not an event of a chat completion')
  const choice = firstChoice(event.choices)
  const { content, reasoning, reasoning_content: thoughts } = choice?.delta ?? {}
  return {
    text: content ?? '',
    generated: Boolean(content || reasoning || thoughts),
    stopReason: choice?.finish_reason ? stopReasonOf(choice.finish_reason, choice, stop) : undefined,
    inputTokens: event.usage?.prompt_tokens,
    outputTokens: event.usage?.completion_tokens,
  }
}

/**
 * An event that was parsed, without its text. Most events of a stream differ only in their text. If the bytes around the
 * text are the same and the text needs no unescaping, the event need not be parsed again.
 */
interface Frame {
  readonly before: string
  readonly after: string
  readonly delta: Delta
}

const key = '"content"'
const betweenKeyAndText = /\s*:\s*$/y
/** JSON string content without a quote, an escape or a control character. */
const plain = /^[^"\\\p{Cc}]+$/u

function frameOf(data: string, delta: Delta): Frame | undefined {
  const at = data.indexOf(key)
  const text = JSON.stringify(delta.text)
  const start = data.indexOf(text, at + key.length)
  if (at === -1 || start === -1 || data.includes(key, at + 1)) return undefined
  betweenKeyAndText.lastIndex = at + key.length
  const before = data.slice(0, start)
  if (!betweenKeyAndText.test(before)) return undefined
  return { before: copy(`${before}"`), after: copy(`"${data.slice(start + text.length)}`), delta }
}

/** Copies a string, because a slice would keep its whole source in memory while the stream lasts. */
const copy = (text: string): string => Buffer.from(text).toString()

function textIn(data: string, { before, after }: Frame): string | undefined {
  // Five times as fast as startsWith and endsWith.
  if (data.slice(0, before.length) !== before || data.slice(-after.length) !== after) return undefined
  const text = data.slice(before.length, -after.length)
  return plain.test(text) ? text : undefined
}
