import type { Locator, Page } from 'playwright-core'

/** Types a part of a name into a choice, and takes the first that has it. */
export async function chooseIn(scope: Page | Locator, label: string, part: string): Promise<void> {
  const field = scope.getByRole('combobox', { name: label })
  await field.focus()
  await field.fill(part)
  // A list that had to be loaded comes later than the text.
  await field
    .page()
    .getByRole('option', { name: new RegExp(part, 'i') })
    .first()
    .waitFor()
  await field.press('Enter')
}
