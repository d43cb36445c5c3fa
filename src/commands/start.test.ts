import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { createConfigFolder, upstream } from '../../tests/support/config.ts'
import type { Config } from '../platform/config/config.ts'
import { createContext } from './context.ts'
import { startCommand } from './start.ts'

const { load } = createConfigFolder()

/** What `start` asks of an embedded server, which is not started here. */
async function connectionsFor(processes: number): Promise<number | undefined> {
  const config: Config = load(`${upstream()}listen: { port: 0, processes: ${processes} }`, { TOLLGATE_DEMO: '0' })
  const { stdout, stderr } = process
  const real = createContext({ environment: {}, root: path.resolve('.'), stdout, stderr })
  let asked: number | undefined
  const command = startCommand({
    ...real,
    config: async () => config,
    async databaseUrl(starting) {
      asked = starting?.connections
      throw new Error('asked')
    },
  })
  await assert.rejects(command.parseAsync([], { from: 'user' }), /^Error: asked$/)
  await real.close()
  return asked
}

test('an embedded server allows 20 connections for each process and 40 for commands, and at least 100', async () => {
  assert.deepEqual(await Promise.all([1, 3, 4, 8].map(connectionsFor)), [100, 100, 120, 200])
})
