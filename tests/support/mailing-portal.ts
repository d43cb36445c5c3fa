import assert from 'node:assert/strict'
import { after } from 'node:test'
import { startMailServer, type ReceivedMail } from './mail-server.ts'
import { startPortal, type Portal } from './portal.ts'
import { until } from './until.ts'

/** A person of a portal, signed in. */
export type Entered = Awaited<ReturnType<Portal['enter']>>

/** Starts a portal that only invited people may join, by a link in a mail, with a partner. Closed after the test file. */
export async function openMailingPortal() {
  const mail = await startMailServer()
  const portal = await startPortal({ mail: mail.url, signIn: { email_link: true, sign_up: { policy: 'invited' } } })
  after(async () => {
    await portal.close()
    await mail.close()
  })
  const mailsTo = (email: string): ReceivedMail[] =>
    mail.mails.filter(({ to }) => to.some((each) => each.toLowerCase() === email.toLowerCase()))
  /** The newest mail to an address, with this subject if it is given. Waits until there are `count`. */
  const mailTo = async (email: string, { subject, count = 1 }: { subject?: string; count?: number } = {}) => {
    const found = () => mailsTo(email).filter((each) => subject === undefined || each.subject === subject)
    await until(() => found().length >= count)
    return found().at(-1) ?? assert.fail()
  }
  return { portal, partner: await portal.enter('partner'), mailsTo, mailTo }
}
