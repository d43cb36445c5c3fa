import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestLog } from '../../tests/support/log.ts'
import { until } from '../../tests/support/until.ts'
import { startDemoProvider } from './provider-process.ts'

const baseUrl = 'http://localhost:8080'

async function answers(issuer: string): Promise<boolean> {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined)
  const document: unknown = await answer?.json()
  return typeof document === 'object' && document !== null && 'issuer' in document && document.issuer === issuer
}

test('the provider of the demo is a process that is started again where it was, and ends when it is told', async () => {
  const { log, text } = createTestLog()
  const provider = await startDemoProvider({ baseUrl, port: 0, log })
  const { issuer } = provider.settings
  const first = provider.pid()
  assert.ok(first !== undefined && first !== process.pid)
  assert.equal(await answers(issuer), true)

  // As Ctrl-C in a terminal does, and many who stop a service, to it and to all that it has started.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.kill(first, signal)
    assert.equal(await answers(issuer), true, signal)
    assert.equal(text(), '')
  }

  process.kill(first, 'SIGKILL')
  await until(() => text().includes('started again'))
  await until(() => answers(issuer))
  assert.notEqual(provider.pid(), first)
  assert.match(text(), /SIGKILL/)

  await provider.close()
  assert.equal(await answers(issuer), false)
  assert.equal(text().match(/started again/g)?.length, 1)
})

test('it is not started again when it ended while it was being closed', async () => {
  const { log, text } = createTestLog()
  const provider = await startDemoProvider({ baseUrl, port: 0, log })
  const closing = provider.close()
  process.kill(provider.pid() ?? 0, 0)
  await closing
  assert.throws(() => process.kill(provider.pid() ?? 0, 0))
  assert.equal(text(), '')
})
