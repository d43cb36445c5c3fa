/** What a developer sees of an account that they are granted. Amounts are in 10⁻¹² of the currency unit. */
export interface GrantedAccount {
  readonly id: string
  readonly name: string
  readonly status: 'open' | 'closed'
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  /** Null for a prepaid account. */
  readonly monthlyLimit: bigint | null
  readonly credited: bigint
  readonly charged: bigint
  readonly monthCharged: bigint
  /** The maximum cost of requests in flight. */
  readonly held: bigint
  /** What new requests may still cost: never below 0. */
  readonly creditLeft: bigint
  readonly createdAt: Date
  readonly closedAt: Date | null
  /** When one of its keys was last used, to the minute. */
  readonly lastUsedAt: Date | null
}

/** The party that pays. */
export interface Account extends GrantedAccount {
  /** Whether it is the firm's own: only its requests may name the client that their cost is attributed to. */
  readonly own: boolean
  readonly billing: BillingDetails
}

/** The addressee of an account's invoices. Null: unknown; for the name, the account's name is used. */
export interface BillingDetails {
  readonly name: string | null
  readonly address: string | null
  readonly taxNumber: string | null
  /** Where invoices are sent to. */
  readonly email: string | null
}

/** Absent fields keep their values. */
export type BillingChange = { readonly [Name in keyof BillingDetails]?: string | null | undefined }

/** Credit that was added to a prepaid account, or withdrawn. It never changes. */
export interface CreditEntry {
  readonly id: string
  /** Later entries have higher numbers. */
  readonly number: bigint
  readonly at: Date
  /** In 10⁻¹² of the currency unit; negative if withdrawn. */
  readonly amount: bigint
  readonly note: string
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

/** A change to the settings that partners control. */
export interface SettingsChange extends NewLimits {
  readonly name?: string | undefined
  readonly own?: boolean | undefined
  readonly billing?: BillingChange | undefined
}
