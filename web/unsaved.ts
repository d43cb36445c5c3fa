interface UnsavedForm {
  /** The path at and below which it stays open; without it, any other page closes the form. */
  readonly within: string | undefined
  /** For a form that saves itself when it is left. Does not throw. */
  readonly save: (() => Promise<void>) | undefined
}

/** The forms with unsaved text. */
const unsaved = new Map<string, UnsavedForm>()
const listeners = new Set<() => void>()
let leaving = false

/** Sets the form with this id as one with unsaved text; without `about`, as one with nothing to save. */
export function markUnsaved(form: string, about?: UnsavedForm): void {
  if (unsaved.has(form) === (about !== undefined)) return
  if (about) unsaved.set(form, about)
  else unsaved.delete(form)
  for (const listener of listeners) listener()
}

/** Whether the form with this id has unsaved text. */
export function isMarked(form: string): boolean {
  return unsaved.has(form)
}

/** Marks the forms that moving to this path closes as having nothing to save. */
export function discardUnsaved(pathname: string): void {
  for (const [form, about] of unsaved) if (isLost(about, pathname)) markUnsaved(form)
}

/** Marks all forms as having nothing to save. */
export function forgetUnsaved(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

export function hasUnsaved(): boolean {
  return unsaved.size > 0
}

/** Whether moving to this path would lose unsaved text. */
export function losesUnsaved(pathname: string): boolean {
  return [...unsaved.values()].some((form) => isLost(form, pathname))
}

/** Saves what moving to this path, or ending the page, would lose, as far as its forms save themselves. */
export async function saveUnsaved(pathname?: string): Promise<void> {
  const lost = [...unsaved.values()].filter((form) => pathname === undefined || isLost(form, pathname))
  await Promise.all(lost.flatMap(({ save }) => save?.() ?? []))
}

const isLost = ({ within }: UnsavedForm, pathname: string) =>
  within === undefined || !`${pathname}/`.startsWith(`${within}/`)

/** Sets whether a move to another page is pending, so that saving does not start a second one. */
export function markLeaving(isSo: boolean): void {
  leaving = isSo
}

export function isLeaving(): boolean {
  return leaving
}

export function watchUnsaved(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
