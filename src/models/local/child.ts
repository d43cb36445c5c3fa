import { setImmediate } from 'node:timers/promises'
import { createChildWork } from './child-work.ts'
import { loadEmbedder } from './embedder.ts'
import { createEmbeddingCalls } from './embedding-calls.ts'
import { generateReply } from './generate.ts'
import { loadModel, type LoadedModel } from './loaded-model.ts'
import { createOutbox } from './outbox.ts'
import { createLendingPool } from './lending-pool.ts'
import { isToChild, type FromChild, type LoadOrder, type RunOrder, type ToChild } from './protocol.ts'

/**
 * The engine process, forked by `engine-process.ts`. It has no state but the model in memory, so it can be killed at any
 * time. It ends when the server ends.
 */

/** Milliseconds between two signs of life. */
const pulse = 1000

let progress = 0
const onProgress = (): void => {
  progress += 1
}

/** Ends the process. `process.exit` would wait for llama.cpp's threads and can crash on them. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Drops the message if the server is gone; `disconnect` follows then. */
function send(message: FromChild): void {
  process.send?.(message, undefined, undefined, () => {})
}

async function serve(order: LoadOrder): Promise<(message: ToChild) => void> {
  const startedAt = performance.now()
  const { threads, calls } = await (order.kind === 'embeddings' ? serveEmbeddings(order) : serveText(order))
  send({ kind: 'ready', threads, loadMilliseconds: performance.now() - startedAt })
  return calls
}

async function serveText(order: LoadOrder) {
  const model = await loadModel(order, onProgress)
  return { threads: model.threads, calls: createCalls(order, model) }
}

async function serveEmbeddings(order: LoadOrder) {
  const embedder = await loadEmbedder(order, onProgress)
  const calls = createEmbeddingCalls({ order, embedder, work: createChildWork(send), send, onProgress })
  return { threads: embedder.threads, calls }
}

function createCalls({ context }: LoadOrder, model: LoadedModel): (message: ToChild) => void {
  const { renderer, grammars, chunkLength, batching } = model
  const sequences = createLendingPool(model.sequences)
  const outbox = createOutbox((texts) => send({ kind: 'texts', texts }))
  const work = createChildWork(send)

  async function count({ id, prompt }: ToChild & { kind: 'count' }): Promise<void> {
    const tokens = await renderer.render(prompt, () => work.isCancelled(id))
    onProgress()
    send({ kind: 'counted', id, tokens: tokens.length })
  }

  async function run({ id, prompt, limits, grammar, stream }: RunOrder): Promise<void> {
    const tokens = await renderer.render(prompt)
    // Requests that arrive together share batches: receive the other messages before this prompt begins.
    await setImmediate()
    if (tokens.length + limits.maxOutputTokens > context) return send({ kind: 'too-long', id, tokens: tokens.length })
    const sequence = await sequences.take()
    let unsent = ''
    const keep = (text: string): void => {
      unsent += text
    }
    try {
      const ended = await generateReply({
        sequence,
        prompt: tokens,
        chunkLength,
        beginReply: batching.beginReply,
        limits,
        grammar: grammar === undefined ? undefined : await grammars(grammar),
        isEnd: renderer.isEnd,
        isCancelled: () => work.isCancelled(id),
        onText: stream ? (text, generated) => outbox.add([id, text, tokens.length, generated]) : keep,
        onProgress,
      })
      send({ kind: 'ended', id, ...ended, text: unsent + outbox.take(id) + ended.text })
    } finally {
      await sequence.clearHistory().catch(end)
      sequences.giveBack(sequence)
    }
  }

  return (message) => {
    if (message.kind === 'count') work.attempt(message.id, count(message))
    if (message.kind === 'run') work.attempt(message.id, run(message))
    if (message.kind === 'cancel') work.cancel(message.id)
  }
}

let calls: Promise<(message: ToChild) => void> | undefined

// Terminals and service managers signal every process of the group. The server decides when the child ends.
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
