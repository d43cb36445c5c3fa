import type { Config } from '../../../platform/config/config.ts'
import { Problem } from '../../../platform/problems.ts'

export type SmsSettings = NonNullable<Config['sms']>

/** Sends a text message to a number such as +4915112345678. Throws Problem `sms_failed`. */
export type SendSms = (to: string, text: string) => Promise<void>

/** How long the gateway may take, in ms. */
const patience = 5000

/** A gateway that is called over HTTP. Any 2xx response means that it accepted the message. */
export function createSmsGateway(settings: SmsSettings): SendSms {
  const requestOf = settings.format === 'twilio' ? twilioRequest : jsonRequest
  return async (to, text) => {
    let cause: unknown
    try {
      const { status, body } = await fetch(settings.url, {
        ...requestOf(settings, to, text),
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(patience),
      })
      await body?.cancel()
      if (status >= 200 && status < 300) return
      cause = new Error(`the SMS gateway responded with status ${status}`)
    } catch (error) {
      cause = error
    }
    throw new Problem('sms_failed', 'The text message could not be sent. Try again, or use another second factor.', {
      cause,
    })
  }
}

/** Documented in docs/sign-in.md. */
function jsonRequest({ token, from }: SmsSettings, to: string, text: string): RequestInit {
  return {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ to, text, ...(from !== undefined && { from }) }),
  }
}

/** The account id of a URL such as https://api.twilio.com/2010-04-01/Accounts/AC…/Messages.json. */
export function twilioAccount(url: string): string | undefined {
  return /\/Accounts\/([A-Za-z0-9]+)\/Messages\.json$/.exec(new URL(url).pathname)?.[1]
}

/** Twilio's REST API: a form, with the account's id and token as user and password. */
function twilioRequest({ url, token, from = '' }: SmsSettings, to: string, text: string): RequestInit {
  const user = Buffer.from(`${twilioAccount(url) ?? ''}:${token}`).toString('base64')
  return {
    headers: { authorization: `Basic ${user}` },
    body: new URLSearchParams({ To: to, From: from, Body: text }),
  }
}
