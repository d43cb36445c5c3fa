/** A new key. Its text is shown once and stored nowhere. */
export interface IssuedKey {
  readonly id: string
  readonly key: string
}

/** Shows a new key before it is committed. If it rejects, the key is not created, so no key exists that nobody has seen. */
export type ShowKey = (key: IssuedKey) => Promise<void>
