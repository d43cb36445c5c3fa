const home = '/'
const longest = 2000
/** Paths that would lead back to the sign-in. */
const circular = /^\/(?:auth|signin|signout)(?:[/?#]|$)/

/**
 * The path to return to after signing in; `/` unless the requested one is a path of this service. Browsers read a second
 * slash, a backslash and some control characters, raw or encoded, as another host.
 */
export function safeReturn(requested: unknown): string {
  if (typeof requested !== 'string' || requested.length > longest) return home
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(requested) || requested.includes('\\')) return home
  const base = 'https://tollgate.invalid'
  if (!URL.canParse(requested, base)) return home
  const { origin, pathname, search, hash } = new URL(requested, base)
  if (origin !== base || /^\/\/|%(?:[01][0-9a-f]|7f|5c)/i.test(pathname) || isCircular(pathname)) return home
  return `${pathname}${search}${hash}`
}

/** Encoded letters reach the same routes: `/%61uth` is `/auth`. */
function isCircular(pathname: string): boolean {
  try {
    return circular.test(decodeURIComponent(pathname))
  } catch {
    return true
  }
}
