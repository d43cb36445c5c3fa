import { fork, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { endOf } from '../../platform/system/processes.ts'
import {
  isFromChild,
  type CallMessage,
  type FromChild,
  type LoadOrder,
  type RunText,
  type ToChild,
} from './protocol.ts'

/** One child process, from its start to its end. */
export interface EngineProcess {
  readonly pid: number | undefined
  /** Resolves when the model is loaded or has failed to load. `fault` is for the operator; it is undefined if the process ended first. */
  readonly loaded: Promise<{ readonly ok: true } | { readonly ok: false; readonly fault?: string }>
  /** Resolves with how the process ended, such as `SIGKILL` or `exit status 1`. Never rejects. */
  readonly ended: Promise<string>
  /** Drops the message if the process has ended. */
  send(message: ToChild): void
  kill(): void
}

export interface EngineProcessNeeds {
  readonly order: LoadOrder
  readonly log: Logger
  /** Milliseconds without progress during work after which the process is killed. */
  readonly stallTimeout: number
  /** Whether calls are in progress. */
  readonly isBusy: () => boolean
  readonly onTexts: (texts: readonly RunText[]) => void
  readonly onCall: (message: CallMessage) => void
}

/** Milliseconds between two checks of the progress. */
const watch = 1000
/**
 * Checks without a message after which a process with a loaded model counts as hung. The process reports every second that
 * it is alive, however long its work takes, because other threads do the work.
 */
const mostSilent = 10

/**
 * Starts a child process that loads the model. The child ends when this process ends, even if it is killed.
 *
 * The channel uses structured clone: a prompt of 1 MiB takes 2.9 ms, against 6.4 ms as JSON. A small message takes 30 µs in
 * both formats.
 */
export function startEngineProcess(needs: EngineProcessNeeds): EngineProcess {
  const { order, log } = needs
  const child = fork(beside('child.ts'), {
    execArgv: [`--env-file=${beside('child.env')}`],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const loaded = Promise.withResolvers<Awaited<EngineProcess['loaded']>>()
  const ended = endOf(child)
  const watcher = watchProgress(child, needs)
  void ended.finally(() => {
    watcher.stop()
    loaded.resolve({ ok: false })
  })

  function take(message: FromChild): void {
    if (message.kind === 'texts') needs.onTexts(message.texts)
    else if (message.kind === 'alive') watcher.see(message.progress)
    else if (message.kind === 'unusable') loaded.resolve({ ok: false, fault: message.reason })
    else if (message.kind === 'ready') {
      log.info(
        { engine_pid: child.pid, load_ms: Math.round(message.loadMilliseconds), threads: message.threads },
        'model loaded',
      )
      watcher.rest()
      loaded.resolve({ ok: true })
    } else needs.onCall(message)
  }

  child.on('message', (message) => {
    if (isFromChild(message)) take(message)
  })
  logOutput(child, log)
  send(child, { kind: 'load', order })
  return Object.freeze<EngineProcess>({
    pid: child.pid,
    loaded: loaded.promise,
    ended,
    send: (message) => send(child, message),
    kill: () => void child.kill('SIGKILL'),
  })
}

function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

function send(child: ChildProcess, message: ToChild): void {
  if (child.connected) child.send(message, () => {})
}

/** Logs the output of llama.cpp and of the runtime. It contains no prompts or replies. */
function logOutput(child: ChildProcess, log: Logger): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream)
      createInterface({ input: stream }).on('line', (line) => log.debug({ engine_pid: child.pid, line }, 'engine'))
  }
}

/** Kills a process that makes no progress on its work or no longer reports that it is alive. */
function watchProgress(child: ChildProcess, { log, stallTimeout, isBusy }: EngineProcessNeeds) {
  let isLoading = true
  let progress = 0
  let movedAt = performance.now()
  /** Counted, not timed: while this process is suspended, it receives no messages. */
  let silent = 0
  const kill = (why: string) => {
    log.error({ engine_pid: child.pid }, `the engine ${why} and is killed`)
    child.kill('SIGKILL')
  }
  const timer = setInterval(() => {
    if (!isLoading && !isBusy()) movedAt = performance.now()
    silent += 1
    if (!isLoading && silent > mostSilent) kill('does not respond')
    else if (performance.now() - movedAt >= stallTimeout) kill('makes no progress')
  }, watch)
  return {
    see(now: number) {
      silent = 0
      if (now !== progress) movedAt = performance.now()
      progress = now
    },
    rest() {
      isLoading = false
      silent = 0
      movedAt = performance.now()
    },
    stop: () => clearInterval(timer),
  }
}
