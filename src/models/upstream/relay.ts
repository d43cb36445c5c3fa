import type { StreamEnd, StreamPart, StopReason } from '../model.ts'
import { Failure } from './failure.ts'
import { brokenOff, neverBegun, nothingReceived, usageOf, type UpstreamRun, type Received } from './usage.ts'

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

/** A reply whose first texts have come, or that ended without any. */
export interface Begun {
  readonly stream: ReplyStream
  readonly texts: readonly string[]
}

/** Waits for the first text of a reply. Throws the Failure of one that failed before it: another attempt is possible. */
export async function begin(stream: ReplyStream): Promise<Begun> {
  const texts = await stream.read()
  if (texts.length === 0 && stream.ending instanceof Failure) {
    stream.leave()
    throw stream.ending
  }
  return { stream, texts }
}

/**
 * A stream whose texts come from an upstream. `ask` has somebody begin it: undefined when the caller left before; `reportFailure`
 * is called when the reply breaks off. What goes wrong after its beginning is an end with `error`.
 */
export async function* relay(
  run: UpstreamRun,
  ask: () => Promise<(Begun & { readonly reportFailure: () => void }) | undefined>,
): AsyncGenerator<StreamPart, void, undefined> {
  if (run.signal.aborted) return yield { kind: 'end', ...neverBegun }
  const begun = await ask()
  if (!begun) return yield { kind: 'end', ...brokenOff('cancelled', nothingReceived, run) }
  const { stream, texts, reportFailure } = begun
  try {
    for (let ready = texts; ready.length > 0; ready = await stream.read()) yield { kind: 'texts', texts: ready }
    yield endOf(stream, run, reportFailure)
  } finally {
    stream.leave()
  }
}

function endOf({ ending, received }: ReplyStream, run: UpstreamRun, reportFailure: () => void): StreamEnd {
  if (ending === 'cancelled') return { kind: 'end', ...brokenOff(ending, received, run) }
  if (typeof ending === 'string') return { kind: 'end', stopReason: ending, usage: usageOf(received, run) }
  const { requestId: request_id } = run.limits
  run.log.warn({ request_id, err: ending?.problem.details.cause, code: ending?.problem.code }, 'a stream broke off')
  reportFailure()
  return { kind: 'end', ...brokenOff('error', received, run), ...(ending && { problem: ending.problem }) }
}
