import type { Page } from 'playwright-core'

/** The text of a letter. */
export const editor = (page: Page) => page.getByRole('textbox', { name: 'Letter', exact: true })

/** Puts the cursor at the end of a paragraph. */
export async function toEndOf(page: Page, text: string): Promise<void> {
  await editor(page).focus()
  await untilSelected(page)
  await editor(page).getByText(text).click()
  await page.keyboard.press('End')
  await untilSelected(page)
}

/**
 * Waits until the editor knows the selection. It learns of a new one by an event, which on a busy machine can come after the next
 * keys, and restores the one it knows 20 ms after it gets the focus. After two frames and a longer timer, both have happened.
 */
async function untilSelected(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 25))))',
  )
}
