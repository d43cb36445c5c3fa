/** A row of the SQL function `till()`: the reply to one item. Levels are in 1/60 000 000 of a request or token. */
export interface TillRow {
  readonly id: string
  readonly of_account: string | null
  readonly outcome: string
  readonly request_level: bigint | null
  readonly token_level: bigint | null
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly wait_us: bigint | null
  /** Whether an instance has an allowance of what the outcome was decided by: the account, the limits of the key, or a budget. */
  readonly lent: boolean
  readonly cost: bigint | null
  /** Input tokens of all three kinds. */
  readonly charged_input: number | null
  /** The output that an admission got which may get less than it asks for. */
  readonly charged_output: number | null
  /** The request that a replayed reply was made for. */
  readonly original: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
  /** The row of `key_limit`, for a key with limits of its own. Its levels are 0 where it has no such limit. */
  readonly of_limit: string | null
  readonly key_request_level: bigint | null
  readonly key_token_level: bigint | null
  readonly key_requests_per_minute: number | null
  readonly key_tokens_per_minute: number | null
  /** The shared budget that refuses the request. */
  readonly of_budget: string | null
}

/** The part of a row of `till()` that describes a stored reply. */
export type ReplayRow = Pick<TillRow, 'outcome' | 'original' | 'headers' | 'body'>
