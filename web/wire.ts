/** What the addresses of sign-in and people answer (docs/api.md). */

/** What the server sends. It checks that against the schema that the type comes from; here it is believed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the address, and so the type
export function believed<Data>(data: unknown): Data {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return data as Data
}

export interface SignIn {
  readonly providers: readonly { readonly id: string; readonly name: string }[]
  readonly return_to?: string
  readonly message?: string
}

export interface PeopleList {
  readonly people: readonly ListedPerson[]
}

export interface ListedPerson {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: 'consultant' | 'partner'
  readonly status: 'active' | 'disabled'
  readonly clients: number
  readonly last_signed_in_at: string | null
}

export interface Me {
  readonly person: Pick<ListedPerson, 'id' | 'name' | 'email' | 'role'>
  readonly session: { readonly id: string; readonly expires_at: string; readonly idle_seconds: number }
  readonly sessions: readonly ListedSession[]
}

export interface ListedSession {
  readonly id: string
  readonly method: string
  /** What people call it. */
  readonly method_name: string
  readonly factors: readonly string[]
  readonly device: string
  readonly address: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly current: boolean
}
