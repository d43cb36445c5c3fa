import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportFault } from '../platform/config/check.ts'

const SignIn = Type.Object({ sign_in: Type.Record(Type.String(), Type.Unknown()) })

/**
 * Reports what the operator asks for and this version lacks: to let people in without it would be worse than not to
 * start.
 */
export function checkSignInSettings(settings: unknown, fault: ReportFault): void {
  if (!Value.Check(SignIn, settings)) return
  const { email_link: emailLink, password, second_factor: secondFactor } = settings.sign_in
  if (emailLink === true) fault('sign_in.email_link', 'this version cannot send sign-in links yet: set it to false')
  if (password === true) fault('sign_in.password', 'this version has no passwords yet: set it to false')
  if (secondFactor === 'required' || secondFactor === 'partners') {
    fault('sign_in.second_factor', 'this version cannot ask for a second factor yet: set it to off or optional')
  }
}
