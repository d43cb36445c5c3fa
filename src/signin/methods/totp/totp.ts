import type { MethodDefinition } from '../definition.ts'

/** An authenticator app. */
export const totp: MethodDefinition = {
  id: 'totp',
  kind: 'factor',
  tables: { ofFactors: ['totp'] },
  openFactor: async (needs) => (await import('./factor.ts')).createTotpFactor(needs),
}
