import assert from 'node:assert/strict'
import { startMailServer, type ReceivedMail } from './mail-server.ts'
import { until } from './until.ts'

export type Mailed = Awaited<ReturnType<typeof startMailed>>

/** A real SMTP server, and what people find in the mails that reach them. */
export async function startMailed() {
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

/** The address that a mail leads to. */
export function linkIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return /^http:\/\/\S+\/signin\/\S+#\S+$/m.exec(text)?.[0] ?? assert.fail(text)
}

/** The code beside a sign-in link. */
export function codeIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return /^[0-9A-Z]{4}-[0-9A-Z]{4}$/m.exec(text)?.[0] ?? assert.fail(text)
}
