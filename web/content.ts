import type { Role } from '../src/access/actor.ts'
import type { FirmSettings } from './locale.ts'
import { believed } from './wire.ts'

/** The data that the server embeds in the page: the JSON of the same URL, and the signed-in person. */
export interface Content {
  readonly address: string
  readonly status: number
  readonly data?: unknown
  readonly error?: Refusal
  readonly viewer?: Viewer
  readonly settings?: Settings
}

/** The configuration that pages need. */
interface Settings {
  readonly firm: FirmSettings & { readonly name?: string; /** Its URL. */ readonly logo?: string }
  /** The model that drafts letters, and the currency of its cost; null if no account pays for drafts. */
  readonly drafting: { readonly model: string; readonly currency: string } | null
}

/** The body of a refusal (docs/errors.md). */
export interface Refusal {
  readonly code: string
  readonly reason: string
  readonly field?: string
  readonly request_id: string
}

/** The signed-in person. Times are in ms after the response, so that the local clock does not matter. */
export interface Viewer {
  readonly person: {
    readonly id: string
    readonly name: string
    readonly email: string | null
    readonly role: Role
  }
  /** The time until the session expires if it stays idle. */
  readonly idle_ends_in: number
  /** The time until the session expires in any case. */
  readonly ends_in: number
}

export const content = readContent()

/** The nonce for style elements, which the Content-Security-Policy requires. */
export const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''

function readContent(): Content {
  const text = document.querySelector('#content')?.textContent
  return believed<Content>(JSON.parse(text ?? '{}'))
}
