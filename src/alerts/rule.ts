/** Where alerts about an account go, and at which shares. */
export interface AlertRule {
  readonly id: string
  readonly accountId: string
  /** In per cent, ascending. */
  readonly shares: readonly number[]
  /** Either this or `webhook`. */
  readonly email: string | null
  readonly webhook: string | null
  readonly createdAt: Date
}

/** An attempt to send an alert. */
export interface AlertAttempt {
  readonly id: string
  readonly at: Date
  readonly alertId: string
  readonly email: string | null
  readonly webhook: string | null
  /** In per cent; null for a test. */
  readonly share: number | null
  /** `queued`: the mail is in the queue of mail. */
  readonly outcome: 'queued' | 'sent' | 'failed' | 'given_up'
  readonly error: string | null
}

/** An alert to send. Amounts are in 10⁻¹² of the currency unit. */
export interface DueAlert {
  readonly id: string
  readonly ruleId: string
  readonly accountId: string
  readonly accountName: string
  /** In per cent; null for a test. */
  readonly share: number | null
  readonly used: bigint
  readonly of: bigint
  readonly createdAt: Date
  /** Including this attempt. */
  readonly tries: number
  readonly email: string | null
  readonly webhook: string | null
  readonly secret: Buffer | null
}
