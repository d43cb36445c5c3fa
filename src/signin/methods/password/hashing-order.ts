/** The inputs of one argon2id hash (RFC 9106). */
export interface DeriveOrder {
  readonly message: Uint8Array
  readonly nonce: Uint8Array
  readonly secret: Uint8Array
  readonly parallelism: number
  readonly tagLength: number
  /** KiB. */
  readonly memory: number
  readonly passes: number
}

export interface DerivedHash {
  readonly hash: Uint8Array
}

/** Both ends are this program, so one field settles the rest. */
export function isDeriveOrder(message: unknown): message is DeriveOrder {
  return typeof message === 'object' && message !== null && 'nonce' in message
}

export function isDerived(message: unknown): message is DerivedHash {
  return typeof message === 'object' && message !== null && 'hash' in message
}
