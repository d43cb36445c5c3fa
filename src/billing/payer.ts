/**
 * What a generation is charged to: an account, the key or the person that spends on it, and the client it concerns.
 * All ids are UUIDs.
 */
export type Payer = {
  readonly accountId: string
  readonly clientId?: string | undefined
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
