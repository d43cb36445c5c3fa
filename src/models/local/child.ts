import { setImmediate } from 'node:timers/promises'
import { generateReply } from './generate.ts'
import { loadModel, type LoadedModel } from './loaded-model.ts'
import { createOutbox } from './outbox.ts'
import { createLendingPool } from './lending-pool.ts'
import { isToChild, type FromChild, type LoadOrder, type RunOrder, type ToChild } from './protocol.ts'

/**
 * The process that has the model, forked by `engine-process.ts`. It keeps no state but the model in memory, so that it
 * can be killed at any moment, and it ends with the server.
 */

/** Milliseconds between two signs of life. */
const pulse = 1000

let progress = 0
const onProgress = (): void => {
  progress += 1
}

/** Not `process.exit`: it waits for, and can crash on, what llama.cpp does in other threads. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** What cannot be sent is dropped: the server is gone then, and `disconnect` follows. */
function send(message: FromChild): void {
  process.send?.(message, undefined, undefined, () => {})
}

async function serve(order: LoadOrder): Promise<(message: ToChild) => void> {
  const startedAt = performance.now()
  const model = await loadModel(order, onProgress)
  const calls = createCalls(order, model)
  send({ kind: 'ready', threads: model.threads, loadMilliseconds: performance.now() - startedAt })
  return calls
}

function createCalls({ context }: LoadOrder, model: LoadedModel): (message: ToChild) => void {
  const { renderer, chunkLength, batching } = model
  const sequences = createLendingPool(model.sequences)
  const outbox = createOutbox((texts) => send({ kind: 'texts', texts }))
  const cancelled = new Set<number>()
  const running = new Set<number>()

  async function count({ id, prompt }: ToChild & { kind: 'count' }): Promise<void> {
    const tokens = await renderer.render(prompt, () => cancelled.has(id))
    onProgress()
    send({ kind: 'counted', id, tokens: tokens.length })
  }

  async function run({ id, prompt, limits, stream }: RunOrder): Promise<void> {
    const tokens = await renderer.render(prompt)
    // Requests that came together are read together: the others' messages are taken in before this prompt begins.
    await setImmediate()
    if (tokens.length + limits.maxOutputTokens > context) return send({ kind: 'too-long', id, tokens: tokens.length })
    const sequence = await sequences.take()
    let unasked = ''
    const keep = (text: string): void => {
      unasked += text
    }
    try {
      const ended = await generateReply({
        sequence,
        prompt: tokens,
        chunkLength,
        beginReply: batching.beginReply,
        limits,
        isEnd: renderer.isEnd,
        isCancelled: () => cancelled.has(id),
        onText: stream ? (text, generated) => outbox.add([id, text, tokens.length, generated]) : keep,
        onProgress,
      })
      send({ kind: 'ended', id, ...ended, text: unasked + outbox.take(id) + ended.text })
    } finally {
      await sequence.clearHistory().catch(end)
      sequences.giveBack(sequence)
    }
  }

  /** A call that fails fails alone: what is wrong with all of them ends the process by itself. */
  function attempt(id: number, work: Promise<void>): void {
    running.add(id)
    void work
      .catch((error: unknown) => send({ kind: 'failed', id, fault: faultOf(error) }))
      .finally(() => {
        running.delete(id)
        cancelled.delete(id)
      })
  }

  return (message) => {
    if (message.kind === 'count') attempt(message.id, count(message))
    if (message.kind === 'run') attempt(message.id, run(message))
    if (message.kind === 'cancel' && running.has(message.id)) cancelled.add(message.id)
  }
}

/** Where the error was thrown. Its message is left out because it may quote the prompt. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = '' } = error
  const frames = stack.slice(stack.indexOf(message) + message.length)
  return `${name}${frames.replaceAll(/\s+/g, ' ')}`
}

let calls: Promise<(message: ToChild) => void> | undefined

// Ctrl-C and the end of a terminal reach every process of it, and a manager of services tells all of one to stop: when to
// end is the server's to say.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
process.on('disconnect', end)
process.on('message', (message) => {
  if (!isToChild(message)) return
  if (message.kind === 'load') {
    calls = serve(message.order)
    calls.catch((error: Error) => send({ kind: 'unusable', reason: error.message }))
  } else {
    void calls?.then((take) => take(message)).catch(end)
  }
})
setInterval(() => send({ kind: 'alive', progress }), pulse)
if (!process.connected) end()
