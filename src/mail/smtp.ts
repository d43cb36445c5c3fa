import type { MailFile } from './mailer.ts'

export interface OutgoingMail {
  readonly to: string
  readonly cc?: string
  /** Where replies go. Default: to the sender. */
  readonly replyTo?: string
  readonly file?: MailFile
  /** The same for every attempt, so that the recipient's server can recognise a repetition. */
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The mail server, over SMTP. */
export interface MailServer {
  /** Resolves once the server has accepted the mail. Throws MailFailure. */
  send(this: void, mail: OutgoingMail, signal: AbortSignal): Promise<void>
  /** Connects and signs in, and sends nothing. Throws MailFailure. */
  check(this: void): Promise<void>
  close(this: void): void
}

/** Why a mail was not sent, without the server's words: they often quote the address. */
export class MailFailure extends Error {
  /** Whether the server refused this mail for good, so that it would be useless to try again. */
  readonly isPermanent: boolean
  /** Such as `550`, `ECONNREFUSED`, `ETIMEDOUT`; `unreadable` if this instance cannot decrypt it. */
  readonly reason: string

  constructor(reason: string, isPermanent: boolean) {
    super(`the mail was not sent: ${reason}`)
    this.reason = reason
    this.isPermanent = isPermanent
  }
}

interface MailServerNeeds {
  /** smtp://user:password@host:port, or smtps://. */
  readonly url: string
  /** The sender, such as `Tollgate <tollgate@example.com>`. */
  readonly from: string
}

/**
 * In ms. The last one is how long the server may take to reply: RFC 5321 section 4.5.3.2.6 asks for ten minutes after the
 * end of the data, because a client that gives up sooner sends mail twice.
 */
const timeouts = { connectionTimeout: 15_000, greetingTimeout: 30_000, socketTimeout: 600_000 }

/** Sends over up to three connections, which it keeps open between mails. STARTTLS is used where the server offers it. */
export async function openMailServer({ url, from }: MailServerNeeds): Promise<MailServer> {
  // Loaded only where mail is configured: it takes 27 MB.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    pool: true,
    maxConnections: 3,
    ...serverOf(url),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  // The pool reports a failed connection to the mail that waits for it.
  transport.on('error', () => undefined)

  return Object.freeze<MailServer>({
    async send({ to, cc, file, ...mail }, signal) {
      const headers = { 'Auto-Submitted': 'auto-generated' }
      // An address object is not parsed, so no text can become a second recipient.
      const options = {
        from,
        to: { name: '', address: to },
        ...(cc !== undefined && { cc: { name: '', address: cc } }),
        ...mail,
        ...(file && { attachments: [{ filename: file.name, content: file.content }] }),
        headers,
        signal,
      }
      await transport.sendMail(options).catch((error: unknown) => {
        throw failureOf(error)
      })
    },
    async check() {
      await transport.verify().catch((error: unknown) => {
        throw failureOf(error)
      })
    },
    close: () => transport.close(),
  })
}

/** Reads the address ourselves: the library would also take settings from its query. */
function serverOf(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = protocol === 'smtps:'
  const auth = username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  const isLocal = /^(?:localhost|127\..*|::1)$/.test(host)
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(auth && { auth }),
    // Someone in between could hide the offer of STARTTLS and read the password.
    requireTLS: auth !== undefined && !secure && !isLocal,
  }
}

/** The replies 530 to 538 are about signing in at the server: an operator can correct that. */
function failureOf(error: unknown): MailFailure {
  const code = field(error, 'code')
  const reply = Number(field(error, 'responseCode') ?? 0)
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE'
  const isPermanent = isAboutMail && (reply === 0 || (reply >= 500 && (reply < 530 || reply > 538)))
  return new MailFailure(reply > 0 ? String(reply) : (field(error, 'originalCode') ?? code ?? 'unknown'), isPermanent)
}

function field(error: unknown, name: 'code' | 'originalCode' | 'responseCode'): string | undefined {
  if (!(error instanceof Error) || !(name in error)) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
