import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, noticed, signInAs, startPortal, type TestPortal } from '../support/browser.ts'
import { serve } from '../support/server.ts'
import { until } from '../support/until.ts'

let portal: TestPortal
let page: Page
/** Refuses webhooks until the test lets it accept them. */
let status = 503
const received: IncomingHttpHeaders[] = []
const receiver = await serve((request, reply) => {
  received.push(request.headers)
  request.resume()
  reply.writeHead(status).end()
})
const webhook = `${receiver.url}/a-hook-with-a-long-path-that-does-not-break`

before(async () => {
  portal = await startPortal(JSON.stringify({ alerts: { allowed_networks: ['127.0.0.1'] } }))
  const profile = await portal.profile()
  page = await profile.newPage()
  await signInAs(page, portal.base, 'Ruth Penhallow', '/accounts')
  await page.getByRole('link', { name: 'Portal' }).click()
  await page.getByRole('heading', { name: 'Alerts' }).waitFor()
})
after(async () => {
  await portal.close()
  await receiver.close()
})

const section = () => page.getByRole('region', { name: 'Alerts' })
const attempts = () => section().getByRole('table', { name: 'Attempts' })

async function act(item: string): Promise<void> {
  await section()
    .getByRole('button', { name: `Actions for the alert to ${webhook}` })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

test('an alert is created, tested, listed with its attempts and removed, with nothing in anyone’s way', async () => {
  await section().getByText('No alerts yet.').waitFor()
  await section().getByRole('button', { name: 'New alert' }).click()
  const form = page.getByRole('form', { name: 'New alert' })
  await form.getByLabel('Or webhook').fill('https://10.0.0.1/')
  await form.getByRole('button', { name: 'Create alert' }).click()
  await form.getByLabel('Or webhook').and(page.locator('[aria-invalid=true]')).waitFor()
  assert.deepEqual(await barriersInBothSchemes(page), [], 'the form with an error')
  await form.getByLabel('At (per cent used)').fill('90, 50 %')
  await form.getByLabel('Or webhook').fill(webhook)
  await form.getByLabel('Webhook also when a batch ends').selectOption('Yes')
  await form.getByRole('button', { name: 'Create alert' }).click()

  const dialog = page.getByRole('dialog', { name: 'Store this secret now' })
  const secret = (await dialog.getByLabel('Secret').textContent()) ?? ''
  assert.match(secret, /^[\w-]{43}$/)
  await page.keyboard.press('Escape')
  assert.ok(await dialog.isVisible(), 'the secret does not close before it is stored')
  assert.deepEqual(await barriersInBothSchemes(page), [], 'the secret')
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await dialog.waitFor({ state: 'detached' })
  await section().getByRole('cell', { name: '50 %, 90 %, end of a batch' }).waitFor()
  assert.ok(!(await page.content()).includes(secret))

  await act('Change')
  const shares = page.getByRole('form', { name: 'Change alert' })
  await shares.getByLabel('At (per cent used)').fill('101')
  await shares.getByRole('button', { name: 'Save' }).click()
  await shares.getByText('shares[0]').waitFor()
  await shares.getByLabel('At (per cent used)').fill('75')
  await shares.getByLabel('Webhook also when a batch ends').selectOption('No')
  await shares.getByRole('button', { name: 'Save' }).click()
  await section().getByRole('cell', { name: '75 %', exact: true }).waitFor()

  await act('Send a test')
  await noticed(page, 'A test is being sent.')
  await until(async () => {
    const refresh = section().getByRole('button', { name: 'Refresh' })
    if ((await refresh.count()) > 0) await refresh.click()
    else await page.reload()
    await section().waitFor()
    return (await section().getByText('Failed', { exact: true }).count()) > 0
  })
  assert.match(String(received[0]?.['tollgate-signature']), /^t=\d+,v1=[0-9a-f]{64}$/)
  await attempts().getByRole('row').filter({ hasText: 'Test' }).getByText('503').first().waitFor()
  status = 204
  await until(async () => {
    await section().getByRole('button', { name: 'Refresh' }).click()
    return (await attempts().getByText('Sent', { exact: true }).count()) > 0
  })
  assert.deepEqual(await barriersInBothSchemes(page), [], 'the attempts')
  await page.setViewportSize({ width: 375, height: 740 })
  assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), 375)
  assert.deepEqual(await barriersInBothSchemes(page), [], 'on a narrow screen')

  await act('Remove')
  const question = page.getByRole('dialog', { name: 'Remove this alert?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await section().getByText('No alerts yet.').count(), 0)
  await act('Remove')
  await question.getByRole('button', { name: 'Remove alert' }).click()
  await section().getByText('No alerts yet.').waitFor()
  await attempts().getByText('Sent', { exact: true }).waitFor()
})
