import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { fixture } from './fixture.ts'
import { objectAt } from './json.ts'
import { startLyingProvider, type LyingProvider } from './lying-provider.ts'
import { createProfile, type Page, type Profile } from './profile.ts'
import { startService, upstreamModel, type Service, type ServiceOptions } from './service.ts'

/** A service with one provider, which lies as instructed. By default anyone can sign up. */
export interface Portal {
  readonly service: Service
  readonly provider: LyingProvider
  readonly profile: () => Profile
  /** Makes the provider sign in an unknown person next. */
  newcomer(this: void): { readonly subject: string; readonly email: string }
  /** Creates a person of this role and signs them in. */
  enter(role: 'consultant' | 'partner'): Promise<{ profile: Profile; id: string; email: string }>
  count(this: void, table: 'session' | 'person' | 'identity'): Promise<number>
  /** Asserts that `page` is this error without a cookie, and that no session and no person was created since `before`. */
  assertRefused(page: Page, expected: readonly [status: number, code: string], before: Counts): Promise<void>
  counts(): Promise<Counts>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The number of sessions and people. */
export type Counts = Readonly<{ session: number; person: number }>

export interface PortalOptions extends Partial<ServiceOptions> {
  readonly settings?: object
  /** Entries of further providers in the configuration file. */
  readonly others?: readonly object[]
  readonly lies?: Partial<LyingProvider['lies']>
  /** Serves the provider over https. */
  readonly secure?: boolean
  /** The issuer that the provider claims. */
  readonly wrongIssuer?: (issuer: string) => string
}

/** A portal for the tests of a file. Before each of them, its provider becomes honest and will sign in an unknown person. */
export function openPortal(options: () => PortalOptions = () => ({})) {
  const portal = fixture(() => startPortal(options()))
  beforeEach(() => {
    portal.provider.beHonest()
    portal.newcomer()
  })
  // The portal closes it.
  return { portal, provider: fixture(() => ({ ...portal.provider, close: undefined })) }
}

export async function startPortal(options: PortalOptions = {}): Promise<Portal> {
  const { signIn, settings, others = [], lies, secure, wrongIssuer, ...rest } = options
  const provider = await startLyingProvider({ ...(secure !== undefined && { secure }) })
  Object.assign(provider.lies, lies)
  if (wrongIssuer) provider.lies.discovery = { issuer: wrongIssuer(provider.issuer) }
  const service = await startService({
    models: [upstreamModel('http://127.0.0.1:9/v1')],
    signIn: {
      providers: [provider.settings(settings), ...others],
      sign_up: { policy: 'anyone' },
      // All tests come from one network and sign in faster than people do.
      starts_per_minute: 100_000,
      ...signIn,
    },
    ...rest,
  }).catch(async (error: unknown) => {
    await provider.close()
    throw error
  })
  let known = 0
  const newcomer = () => {
    known++
    const who = { subject: `subject-${known}`, email: `somebody${known}@example.com` }
    provider.say(who)
    return who
  }
  const count = async (table: 'session' | 'person' | 'identity') => {
    const [row] = await service.database.rows<{ count: bigint }>(`select count(*) from ${table}`)
    return Number(row?.count)
  }
  const close = async () => {
    await service.close()
    await provider.close()
  }
  const counts = async () => ({ session: await count('session'), person: await count('person') })

  return {
    service,
    provider,
    profile: () => createProfile(service),
    newcomer,
    async enter(role) {
      const { email } = newcomer()
      const { id } = await service.people.create({ name: `${role} ${known}`, email, role }, byService)
      const profile = createProfile(service)
      const page = await profile.signIn('firm')
      assert.equal(page.status, 303, page.text)
      return { profile, id, email }
    },
    count,
    counts,
    async assertRefused(page, [status, code], before) {
      assert.deepEqual([page.status, objectAt(page.json, 'error')['code']], [status, code], page.text)
      assert.deepEqual(page.headers.getSetCookie(), [])
      assert.deepEqual(await counts(), before)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
