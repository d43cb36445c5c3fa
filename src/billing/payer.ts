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
      /** Whether the key has limits of its own: then the till decides on each of its requests. */
      readonly limited?: boolean | undefined
      readonly personId?: undefined
    }
  | { readonly personId: string; readonly keyId?: undefined; readonly limited?: undefined }
