/** The forms of this page that hold something that is not saved, each with the place within which it stays. */
const unsaved = new Map<string, string | undefined>()
const listeners = new Set<() => void>()
let leaving = false

/**
 * Says whether a form, by an id of its own, holds something that is not saved. It stays on all pages at and below the
 * address `within`; without one, any other page takes it away.
 */
export function markDraft(form: string, isUnsaved: boolean, within?: string): void {
  if (unsaved.has(form) === isUnsaved) return
  if (isUnsaved) unsaved.set(form, within)
  else unsaved.delete(form)
  for (const listener of listeners) listener()
}

/** Nothing of what is not saved is wanted any more. */
export function forgetDrafts(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

export function hasDrafts(): boolean {
  return unsaved.size > 0
}

/** Whether something that is not saved is lost on another page, by its path. */
export function losesDrafts(pathname: string): boolean {
  return [...unsaved.values()].some((within) => within === undefined || !`${pathname}/`.startsWith(`${within}/`))
}

/** Says whether the page is about to be left: once all is saved, nothing else is gone to. */
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
