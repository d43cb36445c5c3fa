import { believed } from '../wire.ts'

/** A mail with a link and a code that was sent to an address. */
export interface Mailed {
  readonly email: string
  readonly attempt: string
}

interface Kept extends Mailed {
  /** The query of the page that asked for it. */
  readonly search: string
  /** In ms since 1970. */
  readonly until: number
}

const key = 'sign-in-mailed'

/** How long the code is valid, in ms. */
const validity = 600_000

/** Keeps the step of the code for this tab, so that it is still there after the page was loaded again. */
export function keepMailed({ email, attempt }: Mailed): void {
  const kept: Kept = { email, attempt, search: location.search, until: Date.now() + validity }
  try {
    sessionStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // Without storage, the link in the mail remains.
  }
}

export function forgetMailed(): void {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}

/** The mail whose code this page waits for, if any. */
export function keptMailed(): Mailed | undefined {
  try {
    const kept = believed<Kept | null>(JSON.parse(sessionStorage.getItem(key) ?? 'null'))
    return kept !== null && kept.search === location.search && Date.now() < kept.until ? kept : undefined
  } catch {
    return undefined
  }
}
