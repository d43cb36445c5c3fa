const home = '/'
const longest = 2000
/** Where coming back would lead in a circle. */
const circular = /^\/(?:auth|signin|signout)(?:[/?#]|$)/

/**
 * The path of this service that somebody may be sent to after signing in; `/` for whatever else was asked. Browsers
 * read a second slash, a backslash and some control characters, raw or encoded, as another host.
 */
export function safeReturn(asked: unknown): string {
  if (typeof asked !== 'string' || asked.length > longest) return home
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(asked) || asked.includes('\\')) return home
  const base = 'https://tollgate.invalid'
  if (!URL.canParse(asked, base)) return home
  const { origin, pathname, search, hash } = new URL(asked, base)
  if (origin !== base || /^\/\/|%(?:[01][0-9a-f]|7f|5c)/i.test(pathname) || circular.test(pathname)) return home
  return `${pathname}${search}${hash}`
}
