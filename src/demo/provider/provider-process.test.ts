import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestLog } from '../../../tests/support/log.ts'
import { until } from '../../../tests/support/until.ts'
import { startDemoProvider } from './provider-process.ts'

const baseUrl = 'http://localhost:8080'

async function answers(issuer: string): Promise<boolean> {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined)
  const document: unknown = await answer?.json()
  return typeof document === 'object' && document !== null && 'issuer' in document && document.issuer === issuer
}

test('the demo provider is a process that is restarted at its address, and exits when it is closed', async () => {
  const { log, text } = createTestLog()
  const provider = await startDemoProvider({ baseUrl, port: 0, mailPort: 0, log })
  const { issuer } = provider.settings
  const first = provider.pid()
  assert.ok(first !== undefined && first !== process.pid)
  assert.equal(await answers(issuer), true)

  // Ctrl-C in a terminal, and many service managers, signal every process of the service.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.kill(first, signal)
    assert.equal(await answers(issuer), true, signal)
    assert.equal(text(), '')
  }

  process.kill(first, 'SIGKILL')
  await until(() => text().includes('being restarted'))
  await until(() => answers(issuer))
  assert.notEqual(provider.pid(), first)
  assert.match(text(), /SIGKILL/)

  await provider.close()
  assert.equal(await answers(issuer), false)
  assert.equal(text().match(/being restarted/g)?.length, 1)
})

test('it is not restarted if it exits while it is being closed', async () => {
  const { log, text } = createTestLog()
  const provider = await startDemoProvider({ baseUrl, port: 0, mailPort: 0, log })
  const closing = provider.close()
  process.kill(provider.pid() ?? 0, 0)
  await closing
  assert.throws(() => process.kill(provider.pid() ?? 0, 0))
  assert.equal(text(), '')
})
