import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startProcess } from './server-process.ts'
import type { Row } from './row.ts'
import { root } from './tollgate.ts'

const rounds = 5

/** Seconds from `npm start` with an existing data folder until `/readyz` answers 200. */
export async function benchStart(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/start')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await startOnce(folder)
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) samples.push(await startOnce(folder))
  return [{ name: 'npm start on an existing data folder, until ready', unit: 's', samples, goal: { atMost: 3 } }]
}

async function startOnce(folder: string): Promise<number> {
  const port = await freePort()
  const started = performance.now()
  const service = startProcess({
    command: 'npm',
    args: ['start', '--prefix', root],
    environment: { PORT: `${port}`, TOLLGATE_DATA: join(folder, 'data') },
    output: join(folder, 'start.log'),
  })
  try {
    await service.ready(`http://127.0.0.1:${port}/readyz`, 60_000)
    return (performance.now() - started) / 1000
  } finally {
    await service.stop()
  }
}
