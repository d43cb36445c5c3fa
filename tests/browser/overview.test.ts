import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { barriersInBothSchemes, signInAs, untilItHandlesKeys } from '../support/browser.ts'
import { startDesk } from '../support/desk.ts'
import { at, listAt } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const desk = fixture(() => startDesk())

const section = (page: Page, title: RegExp | string) => page.getByRole('region', { name: title })

async function openAsRuth(): Promise<Page> {
  const page = await desk.ruth.newPage()
  await page.goto(`${desk.base}/`)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await untilItHandlesKeys(page)
  return page
}

describe('a partner', () => {
  test('sees changes, disputes and letters of the firm, and its credit and cost', async () => {
    await using page = await openAsRuth()
    for (const title of [/^Changes since \w+day/, 'Letters to approve', 'Letters to send', 'Open disputes']) {
      assert.ok((await section(page, title).getByRole('listitem').count()) > 0, String(title))
    }
    await section(page, 'Credit left').getByRole('link').first().waitFor()
    await page.getByText('Generation cost yesterday').waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
  })

  detail('sees all of a longer list on request', async () => {
    await using page = await openAsRuth()
    const disputes = section(page, 'Open disputes')
    const shown = await disputes.getByRole('listitem').count()
    assert.equal(shown, 5)
    await disputes.getByRole('button', { name: /^Show all \d+$/ }).click()
    assert.ok((await disputes.getByRole('listitem').count()) > shown)
    await disputes.getByRole('button', { name: 'Show fewer' }).click()
    assert.equal(await disputes.getByRole('listitem').count(), shown)
  })
})

describe('a consultant', () => {
  detail('sees a change of someone else while the page is open', async () => {
    const record = await desk.make('/clients', { name: 'Changing' })
    await using page = await desk.daniel.newPage()
    await page.clock.install()
    await page.goto(`${desk.base}/`)
    const changing = section(page, /^Changes/)
      .getByRole('listitem')
      .filter({ hasText: 'Changing' })
    await changing.getByText('Added by you').waitFor()
    await desk.meanwhile('PATCH', record, { name: 'Changing, renamed' })
    await page.clock.fastForward(31_000)
    await changing.filter({ hasText: 'Changing, renamed' }).getByText('Added by Ruth Penhallow and you').waitFor()
  })

  detail('sees an overdue deadline, and opens its dispute', async () => {
    const record = await desk.make('/clients', { name: 'Late' })
    const dispute = await desk.make(`${record}/disputes`, { invoice: 'L-1', amount: '5', due: '2026-01-02' })
    await using page = await desk.open('/')
    const row = section(page, 'Tasks').getByRole('listitem').first()
    assert.match((await row.textContent()) ?? '', /^Answer the dispute of L-1Late2 Jan 2026, overdue$/)
    await row.getByRole('link', { name: 'L-1' }).click()
    await page.waitForURL(desk.base + dispute)
    await page.getByText('deadline 2 Jan 2026').waitFor()
    await page.getByRole('button', { name: 'Edit dispute' }).click()
    await page.getByLabel('Deadline').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit dispute' }).waitFor()
    assert.equal(at(await desk.ask(dispute), 'due'), null)
  })

  detail('without clients sees what to do first', async () => {
    const people: unknown = await (await desk.ruth.request.get(`${desk.base}/people`, { headers: desk.headers })).json()
    const idOf = (name: string) =>
      String(
        at(
          listAt(people, 'people').find((person) => at(person, 'name') === name),
          'id',
        ),
      )
    const given = await desk.ruth.request.post(`${desk.base}/people/${idOf('Mei Sakamoto')}/handover`, {
      headers: desk.headers,
      data: { to: idOf('Daniel Okonjo') },
    })
    assert.ok(given.ok(), await given.text())
    const page = await (await desk.profile()).newPage()
    await signInAs(page, desk.base, 'Mei Sakamoto', '/')
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor()
    assert.equal(await page.getByText('Open disputes').count(), 0)
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('link', { name: 'Add a client' }).click()
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await page.getByText('ask a partner to assign clients to you').waitFor()
    await page.goto(`${desk.base}/clients?status=archived`)
    await page.getByRole('heading', { name: 'No archived clients' }).waitFor()
    assert.equal(await page.getByText('No client matches the search').count(), 0)
    await page.getByRole('button', { name: 'Show all active clients' }).click()
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor()
    await page.context().close()
  })

  detail('is not sent to a partner as a partner of a firm without clients', async () => {
    await using page = await desk.ruth.newPage()
    await page.goto(desk.base)
    await page.route('**/clients', (route) => route.fulfill({ json: { clients: [], total: 0, next: null } }))
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Clients' }).click()
    await page.getByText('import a list with the command line').waitFor()
    assert.equal(await page.getByText('ask a partner').count(), 0)
  })
})
