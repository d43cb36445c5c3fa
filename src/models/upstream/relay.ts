import type { StreamEnd, StreamPart, StopReason } from '../model.ts'
import { Failure } from './failure.ts'
import { brokenOff, neverBegun, nothingReceived, usageOf, type UpstreamRun, type ReceivedReply } from './usage.ts'

export type ReplyPiece = Exclude<StreamPart, StreamEnd>

/** A reply that arrives from an upstream. */
export interface ReplyStream {
  /** Resolves with the next texts or deltas, none of them empty, or with undefined at the end. Never throws. */
  read(): Promise<ReplyPiece | undefined>
  /** How the reply ended; undefined before that. */
  readonly ending: StopReason | Failure | undefined
  /** Why the choices after the first ended, if several were asked for; undefined of one that has not. */
  readonly otherReasons?: readonly (StopReason | undefined)[] | undefined
  readonly received: ReceivedReply
  /** Stops the reply unless it has ended. */
  abandon(): void
}

/** A reply whose first piece has arrived, or that ended without one. */
export interface StartedReply {
  readonly stream: ReplyStream
  readonly first: ReplyPiece | undefined
}

/** Waits for the first piece of a reply. Throws the Failure if the reply fails before it; another attempt is possible then. */
export async function startReply(stream: ReplyStream): Promise<StartedReply> {
  const first = await stream.read()
  if (!first && stream.ending instanceof Failure) {
    stream.abandon()
    throw stream.ending
  }
  return { stream, first }
}

/**
 * Relays a reply from an upstream. `start` begins the reply and resolves with undefined if the caller disconnects first.
 * `reportFailure` is called if the reply breaks off. Failures after the first piece end the stream with `error`.
 */
export async function* relay(
  run: UpstreamRun,
  start: () => Promise<(StartedReply & { readonly reportFailure: () => void }) | undefined>,
): AsyncGenerator<StreamPart, void, undefined> {
  if (run.signal.aborted) return yield { kind: 'end', ...neverBegun }
  const begun = await start()
  if (!begun) return yield { kind: 'end', ...brokenOff('cancelled', nothingReceived, run) }
  const { stream, first, reportFailure } = begun
  try {
    for (let piece = first; piece; piece = await stream.read()) yield piece
    yield endOf(stream, run, reportFailure)
  } finally {
    stream.abandon()
  }
}

function endOf(
  { ending, otherReasons, received }: ReplyStream,
  run: UpstreamRun,
  reportFailure: () => void,
): StreamEnd {
  const othersOr = (reason: StopReason) => otherReasons && { otherReasons: otherReasons.map((each) => each ?? reason) }
  if (ending === 'cancelled') return { kind: 'end', ...brokenOff(ending, received, run), ...othersOr(ending) }
  if (typeof ending === 'string') {
    return { kind: 'end', stopReason: ending, ...othersOr(ending), usage: usageOf(received, run) }
  }
  const { requestId: request_id } = run.limits
  run.log.warn({ request_id, err: ending?.problem.details.cause, code: ending?.problem.code }, 'a stream broke off')
  if (ending?.health !== 'healthy') reportFailure()
  const end = { ...brokenOff('error', received, run), ...othersOr('error') }
  return { kind: 'end', ...end, ...(ending && { problem: ending.problem }) }
}
