import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'
import { readEmail } from './email.ts'

const FirstPartner = Type.Object({
  sign_in: Type.Object({
    first_partner: Type.String(),
    sign_up: Type.Object({ policy: Type.String(), domains: Type.Array(Type.String()) }),
  }),
})

/** `sign_in.first_partner` is an address that the sign-up policy lets in. */
export function checkFirstPartner(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(FirstPartner, settings)) return
  const { first_partner: address, sign_up: signUp } = settings.sign_in
  const email = readEmail(address)
  if (email === undefined) return fault('sign_in.first_partner', 'must be an email address such as anna@example.com')
  if (signUp.policy === 'domain' && !signUp.domains.includes(email.domain)) {
    fault('sign_in.first_partner', 'must be an address at one of sign_in.sign_up.domains')
  }
}
