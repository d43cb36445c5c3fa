import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { signInAs, startPortal, untilInPage } from '../support/browser.ts'
import { at } from '../support/json.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

/** The idle time of a session in ms, which the page's clock skips. */
const idle = 20 * 60_000
const typed = 'Agreed on the telephone: the fixed fee stays, and the audit moves to October.'

const portal = fixture(() => startPortal(`session: { idle: ${idle / 1000}s, absolute: 4h }`))

/** A page with a note that is begun and not saved. */
async function writing(profile: BrowserContext): Promise<{ page: Page; name: string }> {
  const page = await profile.newPage()
  await page.clock.install()
  await signInAs(page, portal.base, 'Daniel Okonjo')
  const row = page.locator('[data-row]').first()
  const name = (await row.textContent()) ?? ''
  await row.click()
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByLabel('Note', { exact: true }).fill(typed)
  return { page, name }
}

/** Lets the session end, for the server and then for the page. */
async function endSession(page: Page): Promise<void> {
  await page.context().clearCookies({ name: 'session' })
  await page.clock.fastForward(idle)
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
}

const extended = (page: Page) => page.waitForResponse((response) => response.ok() && response.url().endsWith('/me'))

/** Signs in again in the tab that the dialog opens. */
async function signInAgain(page: Page, person: string): Promise<Page> {
  const opened = page.context().waitForEvent('page')
  await page.getByRole('dialog').getByRole('link', { name: 'Sign in again' }).click()
  const tab = await opened
  await tab.getByRole('link', { name: /^Continue with/ }).click()
  await tab.getByRole('button', { name: person }).click()
  await tab.waitForURL(`${portal.base}/me`)
  return tab
}

describe('a session that is about to end', () => {
  test('B90 (2.2.1, 2.2.5): is announced and extended by one key press, and hides and keeps typed text once it ends', async () => {
    await using profile = await portal.profile()
    const { page, name } = await writing(profile)
    const warning = page.getByRole('dialog', { name: 'Are you still there?' })
    await page.clock.fastForward(idle - 60_000)
    await warning.locator(':focus').waitFor()
    await Promise.all([extended(page), page.keyboard.press('Enter')])
    await warning.waitFor({ state: 'hidden' })
    await page.clock.fastForward(idle / 2)
    assert.equal(await warning.count(), 0)
    assert.equal(await page.getByLabel('Note', { exact: true }).inputValue(), typed)
    await endSession(page)
    assert.equal(await page.getByRole('heading', { name, level: 1 }).isVisible(), false)
    assert.equal(await page.getByLabel('Note', { exact: true }).isVisible(), false)

    const tab = await signInAgain(page, 'Daniel Okonjo')
    await tab.getByText('You can continue in your other tab and close this one.').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    assert.equal(await page.getByLabel('Note', { exact: true }).inputValue(), typed)
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('article').filter({ hasText: typed }).first().waitFor()
  })

  detail('can be ended by signing out, which asks for confirmation if text is unsaved', async () => {
    await using profile = await portal.profile()
    const { page } = await writing(profile)
    await page.clock.fastForward(idle - 60_000)
    await page.getByRole('dialog', { name: 'Are you still there?' }).waitFor()
    await page.getByRole('button', { name: 'Sign out now' }).click()
    await page.getByRole('button', { name: 'Sign out without saving' }).click()
    await page.waitForURL((url) => url.pathname === '/signin' || url.origin !== portal.base)
  })

  detail('does not end while the person types', async () => {
    await using profile = await portal.profile()
    const { page } = await writing(profile)
    // A response counts for the page once it has told its other tabs, not when it arrives.
    await page.evaluate(`void (window.uses = 0, new BroadcastChannel('tollgate-session').onmessage = ({ data }) => {
      if (data.kind === 'used') window.uses++
    })`)
    for (let uses = 1; uses <= 4; uses++) {
      await page.clock.fastForward(idle / 3)
      await page.getByLabel('Note', { exact: true }).press('a')
      await untilInPage(page, `uses >= ${uses}`)
    }
    assert.equal(await page.getByRole('dialog').count(), 0)
  })
})

describe('a session that has ended', () => {
  detail('by a sign-out in another tab hides and keeps unsaved text', async () => {
    await using profile = await portal.profile()
    const { page, name } = await writing(profile)
    const other = await profile.newPage()
    await other.goto(`${portal.base}/me`)
    await other.getByRole('button', { name: /Daniel Okonjo/ }).click()
    await other.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    assert.equal(await page.getByText(name).first().isVisible(), false)
    await signInAgain(page, 'Daniel Okonjo')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    assert.equal(await page.getByLabel('Note', { exact: true }).inputValue(), typed)
  })

  detail('shows nothing to another person who signs in', async () => {
    await using profile = await portal.profile()
    const { page, name } = await writing(profile)
    await profile.clearCookies({ name: 'session' })
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    const tab = await signInAgain(page, 'Mei Sakamoto')
    await page.evaluate(
      `void (window.heard = new Promise((resolve) => (new BroadcastChannel('tollgate-session').onmessage = resolve)))`,
    )
    await tab.reload()
    await page.evaluate('heard.then(() => undefined)')
    assert.equal(await page.getByText(name).first().isVisible(), false)
    assert.equal(await page.getByLabel('Note', { exact: true }).isVisible(), false)
    const mine = await profile.newPage()
    assert.equal((await mine.goto(page.url()))?.status(), 403)
    assert.equal(await mine.getByText(typed).count(), 0)
  })

  test('does not attribute typed text to another person who signs in in another tab', async () => {
    await using profile = await portal.profile()
    const { page } = await writing(profile)
    const text = `${typed} ${Date.now()}`
    await page.getByLabel('Note', { exact: true }).fill(text)
    const other = await profile.newPage()
    // Not a page of the portal, so it does not notify the other tabs.
    await other.goto(`${portal.base}/auth/start/demo?return_to=/docs`)
    await other.getByRole('button', { name: 'Ruth Penhallow' }).click()
    await other.waitForURL(`${portal.base}/docs`)
    await page.getByLabel('Note', { exact: true }).press('Control+Enter')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await signInAgain(page, 'Daniel Okonjo')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('article').filter({ hasText: text }).waitFor()
    const answer = await page.request.get(`${page.url()}/notes`, { headers: { accept: 'application/json' } })
    const notes = at(await answer.json(), 'notes')
    assert.ok(Array.isArray(notes))
    const written = notes.filter((note) => at(note, 'text') === text)
    assert.deepEqual(
      written.map((note) => at(note, 'created_by', 'name')),
      ['Daniel Okonjo'],
    )
  })

  detail('by a change of role shows what the new role may do after signing in again', async () => {
    const profile = await portal.profile()
    const { page } = await writing(profile)
    const places = page.getByRole('navigation', { name: 'Main' })
    assert.equal(await places.getByRole('link', { name: 'People' }).count(), 0)
    const partner = await portal.profile()
    const people = await partner.newPage()
    await signInAs(people, portal.base, 'Ruth Penhallow', '/people')
    const headers = { accept: 'application/json', origin: portal.base }
    const answer = await partner.request.get(`${portal.base}/people`, { headers })
    const all = at(await answer.json(), 'people')
    assert.ok(Array.isArray(all))
    const id = String(
      at(
        all.find((person: unknown) => at(person, 'name') === 'Daniel Okonjo'),
        'id',
      ),
    )
    const promoted = await partner.request.patch(`${portal.base}/people/${id}`, { headers, data: { role: 'partner' } })
    assert.equal(promoted.status(), 200)

    await page.getByLabel('Note', { exact: true }).press('Control+Enter')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await signInAgain(page, 'Daniel Okonjo')
    await page.getByRole('article').filter({ hasText: typed }).first().waitFor()
    await places.getByRole('link', { name: 'People' }).waitFor()
    await places.getByText('Partner', { exact: true }).waitFor()
    await partner.request.patch(`${portal.base}/people/${id}`, { headers, data: { role: 'consultant' } })
    await Promise.all([profile.close(), partner.close()])
  })
})
