import type { Email } from '../../people/email.ts'

/** What ties a sign-in under way to its callback; the secrets in it never leave the server but as the method says. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** What a method has shown of a person. */
export interface Proof {
  /** The id of the method: of the provider. */
  readonly method: string
  readonly factors: readonly string[]
  readonly issuer: string
  readonly subject: string
  /** The provider's name for the session that it has with the person. */
  readonly sid: string | undefined
  /** Undefined where the provider says none, or one that does not count. */
  readonly email: Email | undefined
}

/** Whether a method can be used now, for /readyz and the log. */
export type MethodState = 'ready' | 'unreachable' | 'wrong'

/** A way to sign in that leads by an address elsewhere. Every method throws Problem. */
export interface Method {
  readonly id: string
  /** What its button says. */
  readonly name: string
  /** Where the browser is sent. Throws `provider_failed`. */
  begin(attempt: Attempt): Promise<URL>
  /**
   * What came back shows. Throws `sign_in_failed` where the provider refused or the answer is not for this attempt,
   * `provider_failed` where the provider failed or answered something wrong.
   */
  complete(callback: URL, attempt: Attempt): Promise<Proof>
  /** Where a browser ends its session with the provider too; undefined where there is no such place. */
  signOutAddress(): URL | undefined
  /** Whose sessions a provider's logout token ends. Throws `sign_in_failed` for a wrong one. */
  readLogout(token: string): Promise<LogoutNotice>
  /** Looks whether it can be used, and remembers why not. */
  check(): Promise<MethodState>
  readonly state: MethodState
  /** Why the state is `wrong`. */
  readonly fault: string | undefined
}

/** A logout token that is in order: its sessions are all of the subject, or the one that the sid names. */
export interface LogoutNotice {
  readonly issuer: string
  readonly subject: string | undefined
  readonly sid: string | undefined
  /** Each is taken once, until then at least. */
  readonly jti: string
  readonly expiresAt: Date
}
