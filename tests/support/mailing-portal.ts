import assert from 'node:assert/strict'
import { fixture } from './fixture.ts'
import { startMailServer, type ReceivedMail } from './mail-server.ts'
import { startPortal, type Portal } from './portal.ts'
import { until } from './until.ts'

/** A person of a portal, signed in. */
export type Entered = Awaited<ReturnType<Portal['enter']>>

/** A portal that only invited people may join, by a link in a mail, with a partner, for the tests of a file. */
export function openMailingPortal() {
  const mail = fixture(() => startMailServer())
  const portal = fixture(() =>
    startPortal({ mail: mail.url, signIn: { email_link: true, sign_up: { policy: 'invited' } } }),
  )
  const mailsTo = (email: string): ReceivedMail[] =>
    mail.mails.filter(({ to }) => to.some((each) => each.toLowerCase() === email.toLowerCase()))
  /** The newest mail to an address, with this subject if it is given. Waits until there are `count`. */
  const mailTo = async (email: string, { subject, count = 1 }: { subject?: string; count?: number } = {}) => {
    const found = () => mailsTo(email).filter((each) => subject === undefined || each.subject === subject)
    await until(() => found().length >= count)
    return found().at(-1) ?? assert.fail()
  }
  return { portal, partner: fixture(() => portal.enter('partner')), mailsTo, mailTo }
}
