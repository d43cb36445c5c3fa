import type { MethodDefinition } from '../definition.ts'

/** An address and a password, which is chosen with a mailed link. */
export const password: MethodDefinition = {
  id: 'password',
  kind: 'credential',
  tables: { ofPeople: ['password'], expiring: ['password_reset'] },
  firstWay: { setting: 'password', words: 'passwords', why: 'passwords are chosen with a mailed link' },
  open: async (needs) => (await import('./open.ts')).openPasswords(needs),
  findForged: async (tx, encryption) => (await import('./reset.ts')).findForgedResets(tx, encryption),
}
