import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server'

/** A mail that the demo would have sent to someone. */
export interface CaughtMail {
  readonly id: number
  readonly at: Date
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A mail server of the demo: it delivers nothing and keeps the last mails in memory. */
export interface MailCatcher {
  readonly port: number
  /** The newest first. */
  list(this: void): readonly CaughtMail[]
  find(this: void, id: number): CaughtMail | undefined
  close(this: void): Promise<void>
}

const loopback = '127.0.0.1'
const mostMails = 100
const mostBytes = 1024 * 1024

/** Listens on the loopback address, on `port` or, if that is taken, on any free one. */
export async function openMailCatcher(port: number): Promise<MailCatcher> {
  const mails: CaughtMail[] = []
  let last = 0

  async function keep(stream: SMTPServerDataStream, to: string): Promise<void> {
    const mail = await PostalMime.parse(await buffer(stream))
    last++
    const { subject = '', text = '', html = '' } = mail
    mails.unshift(Object.freeze({ id: last, at: new Date(), to, subject, text, html }))
    mails.length = Math.min(mails.length, mostMails)
  }
  const create = () =>
    new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      size: mostBytes,
      async onData(stream, { envelope }, done) {
        try {
          await keep(stream, envelope.rcptTo.map(({ address }) => address).join(', '))
          done()
        } catch (error) {
          done(error instanceof Error ? error : new Error('the mail cannot be read'))
        }
      },
    })
  const server = await listen(create, port)
  const address = server.server.address()
  return Object.freeze({
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    list: () => mails,
    find: (id: number) => mails.find((mail) => mail.id === id),
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  })
}

async function listen(create: () => SMTPServer, port: number): Promise<SMTPServer> {
  const server = create()
  // A client that disconnects is no error; a port that is taken rejects below.
  server.on('error', () => undefined)
  try {
    await once(server.listen(port, loopback), 'listening')
    return server
  } catch (error) {
    if (port === 0) throw error
    return listen(create, 0)
  }
}
