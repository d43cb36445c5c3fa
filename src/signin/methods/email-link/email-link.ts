import type { MethodDefinition } from '../definition.ts'
import { decryptCode } from './code.ts'
import { readOwnLinks } from './store.ts'

/** A link by mail, and a code in the same mail. */
export const emailLink: MethodDefinition = {
  id: 'email_link',
  kind: 'credential',
  tables: { expiring: ['email_link'] },
  firstWay: { setting: 'email_link', words: 'email links', why: 'a sign-in link needs a mail server' },
  async open({ mailer, ...needs }) {
    const { createEmailLinkMethod } = await import('./links.ts')
    const { registerLinks } = await import('./routes.ts')
    const { sign_in: settings, base_url: baseUrl } = needs.config
    const method = settings.email_link && mailer ? createEmailLinkMethod({ ...needs, mailer }) : undefined
    return {
      methods: method ? [method] : [],
      addRoutes: (server) => registerLinks(server, { ...needs, method, baseUrl }),
    }
  },
  async findForged(tx, encryption) {
    const links = await readOwnLinks(tx)
    return links
      .filter((link) => decryptCode(encryption, link) === undefined)
      .map(({ id }) => ({ table: 'email_link', id }))
  },
}
