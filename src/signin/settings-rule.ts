import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'
import { twilioAccount } from './factors/sms-gateway.ts'

const Twilio = Type.Object({
  sms: Type.Object({ format: Type.Literal('twilio'), url: Type.String(), from: Type.Optional(Type.String()) }),
})
const SignIn = Type.Object({
  sign_in: Type.Record(Type.String(), Type.Unknown()),
  mail: Type.Optional(Type.Unknown()),
})

/** Reports settings that lack what they need, or that this version does not support. */
export function checkSignInSettings(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(SignIn, settings)) return
  const { email_link: emailLink, password } = settings.sign_in
  if (emailLink === true && settings.mail === undefined) {
    fault('sign_in.email_link', 'a sign-in link needs a mail server. Set mail, or set this to false.')
  }
  if (password === true && settings.mail === undefined) {
    fault('sign_in.password', 'passwords are chosen with a mailed link. Set mail, or set this to false.')
  }
}

/** Reports what the Twilio API needs besides a URL and a token. */
export function checkSmsSettings(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Twilio, settings)) return
  const { url, from } = settings.sms
  if (from === undefined) fault('sms.from', 'is missing: Twilio needs the number or the name of the sender')
  if (URL.canParse(url) && twilioAccount(url) === undefined) {
    fault('sms.url', 'must end in /Accounts/<account id>/Messages.json for Twilio')
  }
}
