import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'

const SignIn = Type.Object({ sign_in: Type.Record(Type.String(), Type.Unknown()) })

/** Reports settings that this version does not support: starting without what they ask for would be worse. */
export function checkSignInSettings(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(SignIn, settings)) return
  const { email_link: emailLink, password, second_factor: secondFactor } = settings.sign_in
  if (emailLink === true) fault('sign_in.email_link', 'this version cannot send sign-in links. Set it to false.')
  if (password === true) fault('sign_in.password', 'this version does not support passwords. Set it to false.')
  if (secondFactor === 'required' || secondFactor === 'partners') {
    fault('sign_in.second_factor', 'this version has no second factors. Set it to off or optional.')
  }
}
