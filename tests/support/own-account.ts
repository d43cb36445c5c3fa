import assert from 'node:assert/strict'
import { createAuthenticator, type Authenticator } from './authenticator.ts'
import { at, type Json } from './json.ts'
import type { Page, Profile } from './profile.ts'
import { totpCode } from './totp.ts'

/** Steps by which people change their own sign-in. Each returns its response, whatever it is. */
export const post = (profile: Profile, address: string, body?: object): Promise<Page> =>
  profile.ask(address, { method: 'POST', body: body ?? {} })
export const remove = (profile: Profile, address: string): Promise<Page> => profile.ask(address, { method: 'DELETE' })

export const challengeOf = ({ json }: Page): Json => {
  const challenge = at(json, 'challenge')
  assert.ok(typeof challenge === 'object' && challenge !== null)
  return { ...challenge }
}

/** Sets up an authenticator app: its secret, and the recovery codes if it was the first factor. */
export async function setUpTotp(profile: Profile): Promise<{ secret: string; codes: readonly string[] }> {
  const { secret } = challengeOf(await post(profile, '/me/factors/totp/start'))
  const page = await post(profile, '/me/factors/totp', { input: { code: totpCode(secret) } })
  assert.equal(page.status, 200, page.text)
  return { secret: String(secret), codes: codesOf(page) }
}

/** Lets codes of the present be used again, as if time had passed. */
export interface Clockwork {
  rows(text: string, values?: readonly unknown[]): Promise<unknown[]>
}
export const forgetSteps = (database: Clockwork): Promise<unknown> => database.rows('update totp set last_step = 0')

/** Adds a passkey. */
export async function addPasskey(
  profile: Profile,
  origin: string,
  name?: string,
): Promise<{ authenticator: Authenticator; codes: readonly string[] }> {
  const authenticator = createAuthenticator(origin)
  const { options } = challengeOf(await post(profile, '/me/factors/passkey/start'))
  const credential = authenticator.create(options)
  const page = await post(profile, '/me/factors/passkey', { input: { credential }, ...(name && { name }) })
  assert.equal(page.status, 200, page.text)
  return { authenticator, codes: codesOf(page) }
}

export function codesOf({ json }: Page): readonly string[] {
  const codes = json['recovery_codes']
  return Array.isArray(codes) ? codes.map(String) : []
}

/** Signs in with a passkey. */
export async function signInWithPasskey(
  profile: Profile,
  authenticator: Authenticator,
  deviations: Parameters<Authenticator['get']>[1] = {},
): Promise<Page> {
  const begun = await post(profile, '/auth/start/passkey', { return_to: '/clients' })
  const { options } = challengeOf(begun)
  const credential = authenticator.get(options, deviations)
  return post(profile, '/auth/complete', { attempt: begun.json['attempt'], input: { credential } })
}

/** Begins and completes a second factor that is due. */
export async function giveFactor(profile: Profile, factor: string, input: object): Promise<Page> {
  const begun = await post(profile, '/auth/second-factor/start', { factor })
  assert.equal(begun.status, 200, begun.text)
  return post(profile, '/auth/second-factor', { input })
}
