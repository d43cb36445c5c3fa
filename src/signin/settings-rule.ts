import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'

const SignIn = Type.Object({
  sign_in: Type.Record(Type.String(), Type.Unknown()),
  mail: Type.Optional(Type.Unknown()),
})

/** Reports settings that lack what they need, or that this version does not support. */
export function checkSignInSettings(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(SignIn, settings)) return
  const { email_link: emailLink, password, second_factor: secondFactor } = settings.sign_in
  if (emailLink === true && settings.mail === undefined) {
    fault('sign_in.email_link', 'a sign-in link needs a mail server. Set mail, or set this to false.')
  }
  if (password === true && settings.mail === undefined) {
    fault('sign_in.password', 'passwords are chosen with a mailed link. Set mail, or set this to false.')
  }
  if (secondFactor === 'required' || secondFactor === 'partners') {
    fault('sign_in.second_factor', 'this version has no second factors. Set it to off or optional.')
  }
}
