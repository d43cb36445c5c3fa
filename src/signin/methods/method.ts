import type { AccountChange } from '../../mail/mailer.ts'
import type { Email } from '../../people/email.ts'
import type { Person } from '../../people/person.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** What a method keeps between its two steps, as JSON. It is stored as it is: hash or encrypt what must stay secret. */
export type AttemptData = Readonly<Record<string, unknown>>

/** The person that a proof establishes: an identity at a provider, the owner of an address, or a known person. */
export type Claim =
  | { readonly by: 'identity'; readonly issuer: string; readonly subject: string; readonly email: Email | undefined }
  | { readonly by: 'email'; readonly email: Email }
  | { readonly by: 'person'; readonly personId: string }

/** A method's statement about a person. */
export interface Proof {
  readonly claim: Claim
  /** What was shown: `provider`, `password`, … Two or more satisfy every second-factor policy. */
  readonly factors: readonly string[]
  /**
   * Whether the proof would still be accepted, for facts that can change while it is checked. Reads within the
   * transaction that admits the person.
   */
  readonly stillHolds?: (tx: Queryable) => Promise<boolean>
  /** For proofs given elsewhere; others are given now. */
  readonly elsewhere?: {
    /** When the person signed in there, if the provider states it. */
    readonly at: Date | undefined
    /** Whether the provider was told to have the person sign in again. */
    readonly isAgain: boolean
  }
  /** For signing out at the provider. */
  readonly provider?: {
    readonly issuer: string
    readonly subject: string
    /** The provider's name for its session. */
    readonly sid: string | undefined
    readonly idToken: string
  }
}

/** Whether a method can be used now, for /readyz and the log. */
export type MethodState = 'ready' | 'unreachable' | 'wrong'

interface AnyMethod {
  readonly id: string
  /** The label of its button. */
  readonly name: string
  readonly state: MethodState
  /** Why the state is `wrong`. */
  readonly fault: string | undefined
  /** Updates the state. */
  check(): Promise<MethodState>
}

export interface BeginOptions {
  /** The person must sign in at the provider even if they are signed in there. */
  readonly again?: boolean
}

/** A method that sends the browser to another address, which sends it back to /auth/callback. */
export interface RedirectMethod extends AnyMethod {
  readonly kind: 'redirect'
  readonly issuer: string
  /** Throws Problem `provider_failed`. */
  begin(state: string, options?: BeginOptions): Promise<{ readonly location: URL; readonly data: AttemptData }>
  /**
   * Throws Problem `sign_in_failed` if the provider refused or the callback does not belong to this attempt,
   * `provider_failed` if the provider failed.
   */
  complete(callback: URL, attempt: { readonly state: string; readonly data: AttemptData }): Promise<Proof>
  /** Where the browser ends its session at the provider; undefined if the provider has no such address. */
  signOutAddress(idToken: string | undefined): URL | undefined
  /** Reads a logout token. Throws Problem `sign_in_failed` if it is invalid. */
  readLogout(token: string): Promise<LogoutNotice>
}

/** A step's request to the person: `challenge` goes to the page, `data` stays on the server. */
export interface Challenge {
  readonly data: AttemptData
  readonly challenge: Readonly<Record<string, unknown>>
}

/** A method in which the person submits something here, perhaps after a challenge. */
export interface CredentialMethod extends AnyMethod {
  readonly kind: 'credential'
  /** `input` is unchecked, as the page sent it. Must not reveal whether a person exists. `state` names the attempt. */
  begin(input: unknown, visitor: Visitor, state: string): Promise<Challenge>
  /** Throws Problem `sign_in_failed` for a wrong submission. It may be called again with the same data. */
  complete(input: unknown, attempt: { readonly data: AttemptData; readonly visitor: Visitor }): Promise<Proof>
  /** Whether the person could sign in with it now. Reads within the transaction of a change, if there is one. */
  isUsableBy(person: Pick<Person, 'id' | 'email'>, database: Queryable): Promise<boolean>
  /** Nobody can use it before they have set it up, in a session or with a mailed link. */
  readonly mustBeSetUp?: true
  /**
   * The submission that confirms who a signed-in person is, from what they typed; undefined if it is no way to confirm that. `begin` is not
   * called before, so a method with a challenge cannot have this.
   */
  confirmation?(this: void, input: unknown, person: Pick<Person, 'email'>): unknown
}

export type SignInMethod = RedirectMethod | CredentialMethod

/** A further proof by a person who is known already. It has the shape of a credential method. */
export interface SecondFactor {
  readonly id: string
  readonly name: string
  /** It stands in for a factor that was lost, and is none by itself. */
  readonly isBackup?: boolean
  /** Reads within the transaction of a change, if there is one. */
  isSetUp(personId: string, within?: Queryable): Promise<boolean>
  begin(personId: string, visitor: Visitor): Promise<Challenge>
  /** Throws Problem `sign_in_failed` for a wrong submission. It may be called again with the same data. */
  complete(input: unknown, attempt: BegunFactor): Promise<void>
  /** How people set it up themselves; undefined if they cannot. */
  readonly enrol?: FactorEnrolment
}

/** Single-use codes on paper, for people who have lost their second factor. */
export interface RecoveryCodes extends SecondFactor {
  /** Creates ten codes in place of all earlier ones. They cannot be read again. */
  create(tx: Queryable, personId: string): Promise<readonly string[]>
  remove(tx: Queryable, personId: string): Promise<void>
  count(personId: string, within?: Queryable): Promise<number>
}

export interface BegunFactor {
  readonly personId: string
  readonly data: AttemptData
  readonly visitor: Visitor
}

/** How a person sets a second factor up, and removes it. */
export interface FactorEnrolment {
  /** The names of the two changes, in the audit log and in the mail to the person. */
  readonly changes: { readonly added: AccountChange; readonly removed: AccountChange }
  /** For a person who has it already, completing it replaces it, unless they can have several. */
  begin(person: Pick<Person, 'id' | 'name' | 'email'>, input: unknown, visitor: Visitor): Promise<Challenge>
  /** Stores the factor. Throws Problem `sign_in_failed` for a wrong submission. It may be called again with the same data. */
  complete(tx: Queryable, input: unknown, begun: BegunEnrolment): Promise<void>
  /** False if the person has not set it up. */
  remove(tx: Queryable, personId: string): Promise<boolean>
}

export interface BegunEnrolment {
  readonly personId: string
  readonly data: AttemptData
  /** The person's name for it, if they can have several. */
  readonly name: string
}

/** A valid logout token: it ends all sessions of the subject, or the session that `sid` names. */
export interface LogoutNotice {
  readonly issuer: string
  readonly subject: string | undefined
  readonly sid: string | undefined
  /** Accepted once, at least until `expiresAt`. */
  readonly jti: string
  readonly expiresAt: Date
}
