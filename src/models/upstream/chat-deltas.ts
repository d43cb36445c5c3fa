import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RunLimits, StopReason } from '../model.ts'
import {
  FinishReason,
  firstOf,
  IndexField,
  stopFields,
  parse,
  stopReasonOf,
  TextField,
  UsageField,
} from './chat-completions.ts'
import { unusable } from './failure.ts'

/** What is read of one event of a stream. Reasoning is not part of the reply, but it was generated. */
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
  /** Whether something was generated, if only thoughts. */
  readonly generated: boolean
  readonly stopReason: StopReason | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/**
 * Reads the data of one event after the other. Throws Failure for anything that is not one; repeatable, when it is their
 * error.
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
  const choice = firstOf(event.choices)
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
 * An event that was read, without its text. The events of a stream mostly differ in nothing else: where the rest is the
 * same to the byte and the text is a plain string, the JSON means the same but for it, and need not be read again.
 */
interface Frame {
  readonly before: string
  readonly after: string
  readonly delta: Delta
}

const key = '"content"'
const betweenKeyAndText = /\s*:\s*$/y
/** Of a string in JSON: neither its end nor an escape. */
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

/** A slice would keep all that came with it in memory, as long as the stream goes on. */
const copy = (text: string): string => Buffer.from(text).toString()

function textIn(data: string, { before, after }: Frame): string | undefined {
  // Faster than startsWith and endsWith, by five times.
  if (data.slice(0, before.length) !== before || data.slice(-after.length) !== after) return undefined
  const text = data.slice(before.length, -after.length)
  return plain.test(text) ? text : undefined
}
