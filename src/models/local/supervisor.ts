import { stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ModelKind } from '../../platform/config/config.ts'
import { Problem } from '../../platform/problems.ts'
import type { EngineProcess } from './engine-process.ts'
import { inspectModelFile } from './gguf.ts'
import { longestPause, pauseAfter } from './restart-pause.ts'

/** Keeps one engine process running over one model file. */
export interface Supervisor {
  /**
   * Resolves with the process when its model is loaded, or with undefined if `signal` aborts first. Waits until five seconds
   * after the later of `since` and the end of the previous process. Throws Problem `unavailable` with `retryAfter` if that
   * time is over or no process is starting.
   *
   * @param since `performance.now()` when the request arrived
   */
  available(since: number, signal?: AbortSignal): Promise<EngineProcess | undefined>
  /** Resolves with undefined when the model is first loaded, or with the reason why it cannot be. */
  firstResult(): Promise<string | undefined>
  readonly health: () => { readonly ready: boolean; readonly reason?: string }
  readonly pid: () => number | undefined
  /** Ends the process for good. Resolves when it is gone. */
  stop(): Promise<void>
}

export interface SupervisorNeeds {
  readonly file: string
  /** What the file must make. */
  readonly kind: ModelKind
  readonly log: Logger
  readonly start: () => EngineProcess
}

/** `fault`: the last attempt to load the model failed, so requests do not wait for the next one. */
type State =
  | { readonly phase: 'starting'; readonly fault?: string | undefined }
  | { readonly phase: 'ready'; readonly process: EngineProcess }
  | { readonly phase: 'down'; readonly reason: string; readonly fault?: string | undefined; readonly until: number }
  | { readonly phase: 'stopped' }

/** Why there is no process. */
interface ProcessEnd {
  readonly reason: string
  readonly fault?: string
  /** Milliseconds for which it was ready. */
  readonly readyFor: number
}

/** Milliseconds. */
const patience = 5000
const healthyAfter = 60_000
const filePoll = 1000

export function createSupervisor({ file, kind, log, start }: SupervisorNeeds): Supervisor {
  const stopping = new AbortController()
  let state: State = { phase: 'starting' }
  let changed = Promise.withResolvers<void>()
  let current: EngineProcess | undefined
  /** When the last process that was ready ended (`performance.now()`). */
  let endedAt = -Infinity

  function become(next: State): void {
    if (state.phase === 'stopped') return
    state = next
    changed.resolve()
    changed = Promise.withResolvers()
  }

  /** Runs one process from its start to its end. */
  async function live(): Promise<ProcessEnd> {
    become({ phase: 'starting', fault: state.phase === 'down' ? state.fault : undefined })
    current = start()
    const loaded = await current.loaded
    const readyAt = performance.now()
    if (loaded.ok) become({ phase: 'ready', process: current })
    else current.kill()
    const how = await current.ended
    if (loaded.ok) {
      endedAt = performance.now()
      return { reason: `The engine ended: ${how}.`, readyFor: endedAt - readyAt }
    }
    return unloaded(
      loaded.fault === undefined
        ? `The engine ended while it loaded the model: ${how}.`
        : `The model cannot be used: ${loaded.fault}`,
    )
  }

  async function supervise(): Promise<void> {
    let ends = 0
    for (;;) {
      const seen = await fingerprint(file)
      const found = await inspectModelFile(file, kind)
      if (stopping.signal.aborted) return
      const { reason, fault, readyFor } = found.ok ? await live() : unloaded(found.reason)
      if (stopping.signal.aborted) return
      ends = readyFor >= healthyAfter ? 1 : ends + 1
      const pause = found.ok ? pauseAfter(ends) : longestPause
      log.error({ model_file: file, reason, restart_in_ms: pause }, 'the local model is down')
      become({ phase: 'down', reason, fault, until: performance.now() + pause })
      if (await fileChanges(file, seen, pause, stopping.signal)) ends = 0
    }
  }

  async function available(since: number, signal?: AbortSignal): Promise<EngineProcess | undefined> {
    for (;;) {
      if (signal?.aborted) return undefined
      if (state.phase === 'ready') return state.process
      const deadline = Math.max(since, endedAt) + patience
      const isHopeless = state.phase === 'stopped' || state.fault !== undefined || pauseEnd(state) > deadline
      if (isHopeless || performance.now() >= deadline) throw unavailable(state)
      await soonest(changed.promise, deadline - performance.now(), signal)
    }
  }

  const supervising = supervise()
  return Object.freeze({
    available,
    async firstResult() {
      while (state.phase === 'starting') await changed.promise
      return state.phase === 'down' ? state.reason : undefined
    },
    health: () => healthOf(state),
    pid: () => current?.pid,
    async stop() {
      become({ phase: 'stopped' })
      stopping.abort()
      current?.kill()
      await supervising
    },
  })
}

function unloaded(fault: string): ProcessEnd {
  return { reason: fault, fault, readyFor: 0 }
}

function healthOf(state: State): { ready: boolean; reason?: string } {
  if (state.phase === 'ready') return { ready: true }
  if (state.phase === 'down') return { ready: false, reason: state.reason }
  if (state.phase === 'stopped') return { ready: false, reason: 'The model was closed.' }
  return { ready: false, reason: state.fault ?? 'The model is being loaded.' }
}

/** When the current pause ends (`performance.now()`); 0 without a pause. */
function pauseEnd(state: State): number {
  return state.phase === 'down' ? state.until : 0
}

function unavailable(state: State): Problem {
  const wait = Math.ceil((pauseEnd(state) - performance.now()) / 1000)
  return new Problem('unavailable', 'The model is not ready. Nothing was charged; send the request again later.', {
    retryAfter: Math.max(1, wait),
  })
}

/** Resolves on the change, after `milliseconds`, or when `signal` aborts. */
async function soonest(change: Promise<void>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const signals = signal ? [signal, over.signal] : [over.signal]
  const late = setTimeout(milliseconds, undefined, { signal: AbortSignal.any(signals) }).catch(() => {})
  await Promise.race([change, late])
  over.abort()
}

/** Waits up to `milliseconds` for the file to differ from `seen`. Resolves with whether it does. */
async function fileChanges(file: string, seen: string, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (!signal.aborted && performance.now() < end) {
    await setTimeout(Math.min(filePoll, end - performance.now()), undefined, { signal }).catch(() => {})
    if ((await fingerprint(file)) !== seen) return true
  }
  return false
}

/** A value that changes when the file appears, is written, or is replaced. */
async function fingerprint(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return 'none'
  }
}
