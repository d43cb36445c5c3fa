import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'
import { twilioAccount } from './methods/sms/gateway.ts'

const Twilio = Type.Object({
  sms: Type.Object({ format: Type.Literal('twilio'), url: Type.String(), from: Type.Optional(Type.String()) }),
})
const Providers = Type.Object({
  sign_in: Type.Object({
    providers: Type.Array(Type.Object({ id: Type.String(), trust_email: Type.Optional(Type.String()) })),
    sign_up: Type.Object({ policy: Type.String() }),
  }),
})
/** The ids of the methods that are no providers: the audit log and sign-in sessions name a method by its id alone. */
const ownIds: readonly string[] = ['email_link', 'password', 'passkey']
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

/** Reports providers that could not be told from another method, or through which nobody could sign in. */
export function checkProviderSettings(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Providers, settings)) return
  const { providers, sign_up: signUp } = settings.sign_in
  for (const [index, { id, trust_email: trust }] of providers.entries()) {
    const place = `sign_in.providers[${index}]`
    if (ownIds.includes(id)) fault(`${place}.id`, `must be another name: ${id} is a sign-in method of its own`)
    if (trust === 'never' && signUp.policy === 'domain') {
      fault(`${place}.trust_email`, 'cannot be never with the policy domain, which checks the address at every sign-in')
    }
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
