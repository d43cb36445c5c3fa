import assert from 'node:assert/strict'
import { stringify } from 'yaml'
import { withBrowser } from './browser.ts'
import { startDemo } from './demo.ts'
import { startMailServer, type ReceivedMail } from './mail-server.ts'
import { shared } from './shared.ts'
import { until } from './until.ts'

/** A real SMTP server, and what people find in the mails that reach them. */
async function startMailed() {
  const server = await startMailServer()
  const mailsTo = (address: string) => server.mails.filter(({ to }) => to.includes(address))

  /** The last of so many mails to an address with such a subject. */
  async function mailTo(address: string, { subject = /./, count = 1 } = {}): Promise<ReceivedMail> {
    const matching = () => mailsTo(address).filter((mail) => subject.test(mail.subject))
    await until(() => matching().length >= count)
    return matching().at(-1) ?? assert.fail()
  }

  return {
    /** `mail` of the configuration file. */
    settings: { url: server.url, from: 'Tollgate <tollgate@penhallow.example>' },
    mailsTo,
    mailTo,
    close: () => server.close(),
  }
}

const mailedDemo = shared(async () => {
  const mails = await startMailed()
  const signIn = { email_link: true, password: true, second_factor: 'optional', starts_per_minute: 1000 }
  const demo = await startDemo(stringify({ mail: mails.settings, sign_in: signIn }))
  return {
    ...demo,
    mails,
    async close() {
      await demo.close()
      await mails.close()
    },
  }
})

/** A portal in which people sign in in every way, with its mails. */
export const startMailedPortal = async () => withBrowser(await mailedDemo())

/** The address that a mail leads to. */
export function linkIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return /^http:\/\/\S+\/signin\/\S+#\S+$/m.exec(text)?.[0] ?? assert.fail(text)
}

/** The code beside a sign-in link. */
export function codeIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return /^[0-9A-Z]{4}-[0-9A-Z]{4}$/m.exec(text)?.[0] ?? assert.fail(text)
}
