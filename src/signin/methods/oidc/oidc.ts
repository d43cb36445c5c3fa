import type { Logger } from 'pino'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Config } from '../../../platform/config/config.ts'
import { OperatorError } from '../../../platform/problems.ts'
import type { MethodDefinition } from '../definition.ts'
import type { RedirectMethod } from '../method.ts'

const Providers = Type.Object({
  sign_in: Type.Object({
    providers: Type.Array(Type.Object({ trust_email: Type.Optional(Type.String()) })),
    sign_up: Type.Object({ policy: Type.String() }),
  }),
})

/** Accounts at OpenID providers. */
export const oidc: MethodDefinition = {
  id: 'oidc',
  kind: 'redirect',
  tables: { ofPeople: ['identity'], expiring: ['logout_token'] },
  checkSettings(settings, fault) {
    if (!Value.Check(Providers, settings)) return
    const { providers, sign_up: signUp } = settings.sign_in
    for (const [index, { trust_email: trust }] of providers.entries()) {
      if (trust !== 'never' || signUp.policy !== 'domain') continue
      fault(
        `sign_in.providers[${index}].trust_email`,
        'cannot be never with the policy domain, which checks the address at every sign-in',
      )
    }
  },
  async open(needs) {
    const methods = await createProviders(needs.config, needs.log)
    await refuseWrong(methods)
    const { registerProviderLogout } = await import('./routes.ts')
    return { methods, addRoutes: (server) => registerProviderLogout(server, { ...needs, methods }) }
  },
}

export async function createProviders(
  { sign_in: settings, base_url: baseUrl }: Pick<Config, 'sign_in' | 'base_url'>,
  log: Logger,
): Promise<RedirectMethod[]> {
  if (settings.providers.length === 0) return []
  // Loaded only where a provider is configured: the libraries of OpenID Connect take 2 MB.
  const { createOidcMethod } = await import('./provider.ts')
  return settings.providers.map((provider) => createOidcMethod({ provider, baseUrl, log }))
}

/** Throws OperatorError for providers that contradict the configuration. One that does not respond is tried again later. */
export async function refuseWrong(providers: readonly RedirectMethod[]): Promise<void> {
  await Promise.all(providers.map((provider) => provider.check()))
  const faults = providers.flatMap(({ issuer, state, fault }, index) =>
    state === 'wrong' ? [`sign_in.providers[${index}].issuer: ${issuer} cannot be used, because ${fault}`] : [],
  )
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}
