/** What the server has drawn of this page (web/first), until the app draws it. */
const first = document.querySelector('#first')
let scrolledTo = 0

/** Called before the app draws its first page, which begins at the top. */
export function keepPlace(): void {
  scrolledTo = scrollY
}

/** Removes the first picture in favour of the app. A focused link keeps the focus, and the page its place. */
export function removeFirstPicture(): void {
  if (!first?.isConnected) return
  const focused = first.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : undefined
  first.remove()
  document.querySelector('#first-style')?.remove()
  if (typeof focused === 'string') {
    document.querySelector<HTMLElement>(`#app a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
  }
  if (scrolledTo > 0) scrollTo(0, scrolledTo)
}
