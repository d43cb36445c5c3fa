import type { Logger } from 'pino'
import type { Piece, Prompt, RunLimits, StopReason } from '../model.ts'
import { Failure } from './failure.ts'
import { brokenOff, usageOf, type Received } from './usage.ts'

/** A reply as it comes from an upstream. */
export interface ReplyStream {
  /** The texts that have come since the last time, none of them empty; none at all when it is over. Never throws. */
  read(): Promise<readonly string[]>
  /** Undefined until it is over. */
  readonly ending: StopReason | Failure | undefined
  readonly received: Received
  /** Gives the reply up, unless it is over. */
  leave(): void
}

export interface RelayNeeds {
  readonly prompt: Prompt
  readonly asked: RunLimits
  readonly log: Logger
  /** Told when the reply broke off. */
  readonly broken: () => void
}

/** Waits for the first text of a reply. Throws the Failure of one that failed before it: another attempt is possible. */
export async function begin(stream: ReplyStream): Promise<{ stream: ReplyStream; texts: readonly string[] }> {
  const texts = await stream.read()
  if (texts.length === 0 && stream.ending instanceof Failure) {
    stream.leave()
    throw stream.ending
  }
  return { stream, texts }
}

/** Hands on a reply that has begun: `texts` are its first. What breaks it off from now on is an end with `error`. */
export async function* relay(
  stream: ReplyStream,
  texts: readonly string[],
  { prompt, asked, log, broken }: RelayNeeds,
): AsyncGenerator<Piece, void, undefined> {
  try {
    for (let ready = texts; ready.length > 0; ready = await stream.read()) {
      for (const text of ready) yield { kind: 'text', text }
    }
    const { ending, received } = stream
    if (typeof ending === 'string' && ending !== 'cancelled') {
      yield { kind: 'end', stopReason: ending, usage: usageOf(received, prompt, asked, log) }
    } else if (ending === 'cancelled') {
      yield brokenOff('cancelled', received, prompt, asked)
    } else {
      log.warn({ err: ending?.problem.details.cause, code: ending?.problem.code }, 'a reply broke off')
      broken()
      yield brokenOff('error', received, prompt, asked)
    }
  } finally {
    stream.leave()
  }
}
