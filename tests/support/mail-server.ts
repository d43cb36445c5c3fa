import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { Socket } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { until } from './until.ts'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
  readonly replyTo: string | undefined
  /** The attachments. */
  readonly files: readonly { readonly name: string; readonly type: string; readonly content: Buffer }[]
  readonly headers: Readonly<Record<string, string>>
  readonly isEncrypted: boolean
}

/** The server's response to a mail. Default: accept it. */
export interface MailBehaviour {
  /** The reply to the recipient's address, such as 451 for greylisting or 550 for a permanent refusal. */
  readonly recipient?: number
  /** The reply to the whole mail. */
  readonly data?: number
  /** Closes the connection after the whole mail, without a reply. */
  readonly drops?: boolean
  /** Accepts the mail when this resolves. */
  readonly slow?: Promise<void>
}

/** A real SMTP server. */
export interface TestMailServer {
  /** smtp:// or smtps:// */
  readonly url: string
  /** Mail that the server accepted. */
  readonly mails: readonly ReceivedMail[]
  /** Mail whose text arrived, accepted or not. */
  readonly seen: readonly ReceivedMail[]
  /** How often a client connected. */
  readonly connections: number
  /** The responses to the next mails, in order. */
  behave(...next: readonly MailBehaviour[]): void
  /** Waits for so many accepted mails. */
  received(count: number): Promise<readonly ReceivedMail[]>
  /** Does not accept connections until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

interface Options extends Pick<
  SMTPServerOptions,
  'secure' | 'cert' | 'key' | 'onAuth' | 'authMethods' | 'allowInsecureAuth'
> {
  readonly scheme?: 'smtp' | 'smtps'
  /** Such as `user:password@`. */
  readonly user?: string
}

export async function startMailServer({ scheme = 'smtp', user = '', ...tls }: Options = {}): Promise<TestMailServer> {
  const mails: ReceivedMail[] = []
  const seen: ReceivedMail[] = []
  const next: MailBehaviour[] = []
  const sockets = new Map<number, Socket>()
  const behaviours = new Map<string, MailBehaviour>()
  let connections = 0

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<boolean> {
    const mail = await read(stream, session)
    seen.push(mail)
    const { data, drops = false, slow } = behaviours.get(session.id) ?? {}
    behaviours.delete(session.id)
    await slow
    if (drops) sockets.get(session.remotePort)?.destroy()
    if (data !== undefined) throw replyOf(data)
    if (!drops) mails.push(mail)
    return !drops
  }
  async function answer(...[stream, session, done]: Parameters<NonNullable<SMTPServerOptions['onData']>>) {
    try {
      if (await receive(stream, session)) done()
    } catch (error) {
      done(error instanceof Error ? error : new Error('unknown'))
    }
  }
  const options: SMTPServerOptions = {
    authOptional: true,
    disableReverseLookup: true,
    ...(tls.cert === undefined && { disabledCommands: ['STARTTLS'] }),
    ...tls,
    onRcptTo(_address, session, done) {
      const behaviour = next.shift() ?? {}
      behaviours.set(session.id, behaviour)
      done(behaviour.recipient === undefined ? null : replyOf(behaviour.recipient))
    },
    onData(stream, session, done) {
      void answer(stream, session, done)
    },
  }

  async function listen(port: number): Promise<SMTPServer> {
    const opened = new SMTPServer(options)
    // A client may go away in the middle.
    opened.on('error', () => undefined)
    opened.server.on('connection', (socket: Socket) => {
      connections++
      if (socket.remotePort !== undefined) sockets.set(socket.remotePort, socket)
    })
    await once(opened.listen(port, '127.0.0.1'), 'listening')
    return opened
  }
  let server: SMTPServer | undefined = await listen(0)
  const place = server.server.address()
  const port = typeof place === 'object' ? (place?.port ?? 0) : 0

  async function down(): Promise<void> {
    if (server === undefined) return
    const closing = server
    server = undefined
    const closed = new Promise<void>((resolve) => closing.close(resolve))
    for (const socket of sockets.values()) socket.destroy()
    await closed
  }

  return {
    url: `${scheme}://${user}127.0.0.1:${port}`,
    mails,
    seen,
    get connections() {
      return connections
    },
    behave: (...behaviour) => void next.push(...behaviour),
    async received(count) {
      await until(() => mails.length >= count)
      return mails
    },
    down,
    async up() {
      server ??= await listen(port)
    },
    close: down,
  }
}

function replyOf(responseCode: number): Error {
  return Object.assign(new Error('as the test asked'), { responseCode })
}

async function read(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(await buffer(stream))
  const { mailFrom, rcptTo } = session.envelope
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    messageId: mail.messageId ?? '',
    replyTo: mail.replyTo?.[0]?.address,
    files: mail.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? '',
      type: mimeType,
      content: typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content)),
    })),
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    isEncrypted: session.secure,
  }
}
