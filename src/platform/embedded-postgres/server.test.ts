import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { prepareDataFolder } from './cluster-files.ts'
import { endServer, stopServer } from './server.ts'

test('stopping a server that has just ended succeeds', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tollgate-server-'))
  t.after(() => rm(directory, { recursive: true }))
  const place = await prepareDataFolder(directory)
  const server = spawn('true')
  await once(server, 'exit')
  const running = { pid: server.pid ?? assert.fail(), port: 0, ready: true, stopping: false }
  await stopServer(running)
  await endServer(running, place)
})
