import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { barriersInBothSchemes, signInAs, startPortal } from '../support/browser.ts'
import { detail } from '../support/detail.ts'
import { fixture } from '../support/fixture.ts'

const portal = fixture(() => startPortal())

describe('signing in', () => {
  test('takes two clicks and ends on the requested page, but opens no page that the person may not see', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(`${portal.base}/clients?status=all&sort=-changed_at`)
    assert.equal(new URL(page.url()).pathname, '/signin')
    await page.getByRole('link', { name: /^Continue with/ }).click()
    await page.getByRole('button', { name: 'Daniel Okonjo' }).click()
    await page.waitForURL(`${portal.base}/clients?status=all&sort=-changed_at`)
    await page.getByRole('heading', { name: 'Clients', level: 1 }).waitFor()
    await page.getByText('Daniel Okonjo').first().waitFor()
    const [cookie] = (await profile.cookies()).filter(({ name }) => name === 'session')
    assert.deepEqual([cookie?.httpOnly, cookie?.secure, cookie?.sameSite], [true, true, 'Lax'])
    for (const address of ['/people', '/clients/0199d6a0-0000-7000-8000-000000000000']) {
      assert.equal((await page.goto(portal.base + address))?.status(), 403, address)
      await page.getByRole('heading', { name: 'No access' }).waitFor()
      await page.getByRole('link', { name: 'Go to the overview' }).waitFor()
    }
    assert.equal((await page.goto(`${portal.base}/nowhere`))?.status(), 404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })

  detail('is not asked of a person who is signed in and opens the page again or goes back to it', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await page.goto(`${portal.base}/signin?return_to=/me`)
    assert.equal(await page.getByText('You are signed in as').count(), 0)
    await signInAs(page, portal.base, 'Mei Sakamoto')
    await page.goto(`${portal.base}/signin?return_to=/me`)
    await page.getByText('You are signed in as Mei Sakamoto.').waitFor()
    await page.getByRole('link', { name: /^Continue with/ }).waitFor()
    assert.deepEqual(await barriersInBothSchemes(page), [])
    await page.getByRole('link', { name: 'Continue', exact: true }).click()
    await page.waitForURL(`${portal.base}/me`)
    await page.goBack()
    await page.getByText('You are signed in as Mei Sakamoto.').waitFor()
    await page.goto(`${portal.base}/signin?again=1`)
    await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
    assert.equal(await page.getByText('You are signed in as').count(), 0)
  })
})

describe('signing out', () => {
  test('B29 leaves nothing for the Back button, in any tab', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Mei Sakamoto')
    const name = (await page.locator('[data-row]').first().textContent()) ?? ''
    await page.locator('[data-row]').first().click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    const other = await profile.newPage()
    await other.goto(`${portal.base}/clients`)
    await other.getByText(name).first().waitFor()

    await page.getByRole('button', { name: /Mei Sakamoto/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL((url) => url.pathname === '/signin' || url.port !== new URL(portal.base).port)
    await other.waitForURL(/\/signin/)
    assert.equal(await other.getByText(name).count(), 0)

    for (let steps = 0; steps < 3; steps++) {
      await page.goBack().catch(() => undefined)
      assert.equal(await page.getByText(name).count(), 0, `after ${steps + 1} steps back: ${page.url()}`)
    }
  })
})

describe('the sessions at /me', () => {
  test('B30, B31: are ended one by one, except this one, or all after a question', async () => {
    const [one, two] = await Promise.all([portal.profile(), portal.profile()])
    const [page, far] = await Promise.all([one.newPage(), two.newPage()])
    await signInAs(far, portal.base, 'Mei Sakamoto')
    await signInAs(page, portal.base, 'Mei Sakamoto', '/me')
    const rows = page.getByRole('listitem').filter({ hasText: 'signed in with' })
    const current = rows.filter({ hasText: 'This device' })
    const end = { name: 'End', exact: true }
    await current.waitFor()
    assert.equal(await current.getByRole('button', end).count(), 0)
    assert.equal(await page.getByRole('button', end).count(), (await rows.count()) - 1)
    const everywhere = page.getByRole('button', { name: 'Sign out everywhere' })
    const question = page.getByRole('dialog', { name: 'Sign out everywhere?' })
    await everywhere.click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    await far.reload()
    await far.locator('[data-row]').first().waitFor()
    await everywhere.click()
    await question.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.waitForURL((url) => url.pathname === '/signin' || url.port !== new URL(portal.base).port)
    await far.locator('[data-row]').first().click()
    await far.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await Promise.all([one.close(), two.close()])
  })

  detail('of another person hide what is open in other tabs, at once', async () => {
    await using profile = await portal.profile()
    const page = await profile.newPage()
    await signInAs(page, portal.base, 'Daniel Okonjo')
    const name = (await page.locator('[data-row]').first().textContent()) ?? ''
    await page.locator('[data-row]').first().click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    const other = await profile.newPage()
    await other.goto(`${portal.base}/auth/start/demo?return_to=/clients`)
    await other.getByRole('button', { name: 'Mei Sakamoto' }).click()
    await other.locator('[data-row]').first().waitFor()
    await page.getByRole('heading', { name: 'No access' }).waitFor()
    assert.equal(await page.getByText(name).count(), 0)
  })
})
