/** The party that pays. Amounts are in 10⁻¹² of the currency unit. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly status: 'open' | 'closed'
  /** Whether it is the firm's own: only its requests may name the client that their cost is attributed to. */
  readonly own: boolean
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  /** Null for a prepaid account. */
  readonly monthlyLimit: bigint | null
  readonly credited: bigint
  readonly charged: bigint
  readonly monthCharged: bigint
  /** The most that requests in flight can cost. */
  readonly held: bigint
  /** What new requests may still cost: never below 0. */
  readonly creditLeft: bigint
  readonly createdAt: Date
  readonly closedAt: Date | null
}

/** A new account: prepaid with `credit`, or postpaid with `monthlyLimit`. With neither it is prepaid and empty. */
export interface NewAccount {
  readonly name: string
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  /** Default false. */
  readonly own?: boolean | undefined
  readonly credit?: bigint | undefined
  readonly monthlyLimit?: bigint | undefined
}

export interface NewLimits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly monthlyLimit?: bigint | undefined
}
