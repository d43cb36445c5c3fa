import { believed } from './wire.ts'

/** What the server embeds in the page: the answer that the same address gives as JSON, and who is looking. */
export interface Content {
  readonly address: string
  readonly status: number
  readonly data?: unknown
  readonly error?: Refusal
  readonly viewer?: Viewer
}

/** The body of a refusal (docs/errors.md). */
export interface Refusal {
  readonly code: string
  readonly reason: string
  readonly field?: string
  readonly request_id: string
}

/** Who is signed in. Times are ms from the moment of the answer, so that this machine's clock does not matter. */
export interface Viewer {
  readonly person: {
    readonly id: string
    readonly name: string
    readonly email: string | null
    readonly role: 'consultant' | 'partner'
  }
  /** Until the session ends, if it is not used. */
  readonly idle_ends_in: number
  /** Until it ends however much it is used. */
  readonly ends_in: number
}

export const content = readContent()

/** Of the styles that this page adds; the policy lets no other in. */
export const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''

function readContent(): Content {
  const text = document.querySelector('#content')?.textContent
  return believed<Content>(JSON.parse(text ?? '{}'))
}
