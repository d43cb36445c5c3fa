import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

/** Memory of a Node process after a full garbage collection, in bytes. */
export interface LiveMemory {
  /** Objects on the heap, and external memory that they own. */
  readonly live: number
  /** Resident memory. Includes pages that a collection has emptied. */
  readonly resident: number
}

/**
 * Collects a process's garbage through the inspector (Chrome DevTools Protocol) and reads its memory. The process must have
 * been started with `--inspect-port` and this port; the first call opens the inspector.
 */
export async function liveMemoryOf(pid: number, port: number): Promise<LiveMemory> {
  process.kill(pid, 'SIGUSR1')
  using session = await openSession(port)
  for (let round = 0; round < 3; round++) await session.call('HeapProfiler.collectGarbage', {})
  const expression = '[process.memoryUsage()].map((it) => `${it.heapUsed + it.external} ${it.rss}`)[0]'
  const reply = await session.call('Runtime.evaluate', { expression })
  const [, live, resident] = /"value":"(\d+) (\d+)"/.exec(reply) ?? []
  if (live === undefined || resident === undefined) throw new Error(`The inspector answered ${reply}.`)
  return { live: Number(live), resident: Number(resident) }
}

/** ms to wait for the inspector. */
const timeout = 5000

async function openSession(port: number) {
  const socket = new WebSocket(await debuggerUrl(port))
  await once(socket, 'open')
  let lastId = 0
  return {
    async call(method: string, params: object): Promise<string> {
      lastId++
      const id = lastId
      const reply = Promise.withResolvers<string>()
      const receive = ({ data }: MessageEvent): void => {
        if (typeof data === 'string' && data.startsWith(`{"id":${id},`)) reply.resolve(data)
      }
      socket.addEventListener('message', receive)
      socket.send(JSON.stringify({ id, method, params }))
      return reply.promise.finally(() => socket.removeEventListener('message', receive))
    },
    [Symbol.dispose]: () => socket.close(),
  }
}

/** Waits until the inspector is open, and returns the URL of its WebSocket. */
async function debuggerUrl(port: number): Promise<string> {
  for (const end = performance.now() + timeout; performance.now() < end; await wait(20)) {
    const list = await fetch(`http://127.0.0.1:${port}/json/list`).then(
      (response) => response.text(),
      () => '',
    )
    const [, url] = /"webSocketDebuggerUrl": "([^"]+)"/.exec(list) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`The inspector did not open within ${timeout} ms.`)
}
