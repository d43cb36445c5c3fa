/**
 * What a generation is charged to: an account, the key or the person that spends on it, and the client it concerns.
 * All ids are UUIDs.
 */
export type Payer = {
  readonly accountId: string
  readonly clientId?: string | undefined
  /** The hard budgets, shared by several keys or by all requests with a tag, that the request counts in. */
  readonly budgets?: readonly PayerBudget[] | undefined
  /** The tags of the request, if the account has budgets of tags. */
  readonly tags?: Tags | undefined
} & Spender

/** Exactly one of the two. */
export type Spender =
  | {
      readonly keyId: string
      /** The limits of the key, besides those of its account. Keys that replaced each other share them. */
      readonly limitId?: string | undefined
      readonly personId?: undefined
    }
  | { readonly personId: string; readonly keyId?: undefined; readonly limitId?: undefined }

export interface PayerBudget {
  readonly id: string
  readonly name: string
}

/** What a request was for, as its caller said: values by names. */
export type Tags = Readonly<Record<string, string>>

/** The most characters of a tag. A pair whose value is longer is accepted, and left out of the ledger. */
export const longestTag = { name: 64, value: 128 }

/** The ids of a client and of an end user: pairs of the metadata that are no tags. */
export const untagged: ReadonlySet<string> = new Set(['client_id', 'user_id'])
