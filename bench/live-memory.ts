import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

/** Memory of a Node process after a full garbage collection, in bytes. */
export interface LiveMemory {
  /** Objects on the heap and what they hold outside of it. */
  readonly live: number
  /** All that the process has of the machine. Pages that a collection has emptied are still in it. */
  readonly resident: number
}

/**
 * Collects the garbage of a process and looks at what is left, by the inspector (Chrome DevTools Protocol). The process
 * must have been started with `--inspect-port`, the port given here; the inspector opens at the first look.
 */
export async function liveMemoryOf(pid: number, port: number): Promise<LiveMemory> {
  process.kill(pid, 'SIGUSR1')
  using session = await openSession(port)
  for (let round = 0; round < 3; round++) await session.ask('HeapProfiler.collectGarbage', {})
  const expression = '[process.memoryUsage()].map((it) => `${it.heapUsed + it.external} ${it.rss}`)[0]'
  const answer = await session.ask('Runtime.evaluate', { expression })
  const [, live, resident] = /"value":"(\d+) (\d+)"/.exec(answer) ?? []
  if (live === undefined || resident === undefined) throw new Error(`The inspector answers ${answer}.`)
  return { live: Number(live), resident: Number(resident) }
}

const patience = 5000

async function openSession(port: number) {
  const socket = new WebSocket(await addressOf(port))
  await once(socket, 'open')
  let lastId = 0
  return {
    async ask(method: string, params: object): Promise<string> {
      lastId++
      const id = lastId
      const answer = Promise.withResolvers<string>()
      const take = ({ data }: MessageEvent): void => {
        if (typeof data === 'string' && data.startsWith(`{"id":${id},`)) answer.resolve(data)
      }
      socket.addEventListener('message', take)
      socket.send(JSON.stringify({ id, method, params }))
      return answer.promise.finally(() => socket.removeEventListener('message', take))
    },
    [Symbol.dispose]: () => socket.close(),
  }
}

/** Where the inspector listens for a debugger, as soon as it is open. */
async function addressOf(port: number): Promise<string> {
  for (const end = performance.now() + patience; performance.now() < end; await wait(20)) {
    const list = await fetch(`http://127.0.0.1:${port}/json/list`).then(
      (answer) => answer.text(),
      () => '',
    )
    const [, address] = /"webSocketDebuggerUrl": "([^"]+)"/.exec(list) ?? []
    if (address !== undefined) return address
  }
  throw new Error('The inspector does not open.')
}
