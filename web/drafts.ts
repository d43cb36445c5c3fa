/** The forms with unsaved text, each with the path below which it stays open. */
const unsaved = new Map<string, string | undefined>()
const listeners = new Set<() => void>()
let leaving = false

/**
 * Sets whether the form with this id has unsaved text. The form stays open on pages at and below the path `within`; without
 * it, any other page closes the form.
 */
export function markDraft(form: string, isUnsaved: boolean, within?: string): void {
  if (unsaved.has(form) === isUnsaved) return
  if (isUnsaved) unsaved.set(form, within)
  else unsaved.delete(form)
  for (const listener of listeners) listener()
}

/** Marks all forms as having nothing to save. */
export function forgetDrafts(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

export function hasDrafts(): boolean {
  return unsaved.size > 0
}

/** Whether moving to this path would lose unsaved text. */
export function losesDrafts(pathname: string): boolean {
  return [...unsaved.values()].some((within) => within === undefined || !`${pathname}/`.startsWith(`${within}/`))
}

/** Sets whether a move to another page is pending, so that saving does not start a second one. */
export function markLeaving(isSo: boolean): void {
  leaving = isSo
}

export function isLeaving(): boolean {
  return leaving
}

export function watchDrafts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
