import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'
import { methods } from './methods/methods.ts'

const SignIn = Type.Object({
  sign_in: Type.Record(Type.String(), Type.Unknown()),
  mail: Type.Optional(Type.Unknown()),
})
const Providers = Type.Object({
  sign_in: Type.Object({ providers: Type.Array(Type.Object({ id: Type.String() })) }),
})

/** Reports settings that lack what a sign-in method or a second factor needs, or that this version does not support. */
export function checkSignInSettings(settings: unknown, fault: ReportConfigError): void {
  checkMail(settings, fault)
  checkNames(settings, fault)
  for (const { checkSettings } of methods) checkSettings?.(settings, fault)
}

function checkMail(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(SignIn, settings) || settings.mail !== undefined) return
  for (const { firstWay } of methods) {
    if (firstWay === undefined || settings.sign_in[firstWay.setting] !== true) continue
    fault(`sign_in.${firstWay.setting}`, `${firstWay.why}. Set mail, or set this to false.`)
  }
}

/** The audit log and sessions name a method by its id alone, so no provider may have the id of another method. */
function checkNames(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Providers, settings)) return
  const taken = methods.filter(({ kind }) => kind === 'credential').map(({ id }) => id)
  for (const [index, { id }] of settings.sign_in.providers.entries()) {
    if (!taken.includes(id)) continue
    fault(`sign_in.providers[${index}].id`, `must be another name: ${id} is a sign-in method of its own`)
  }
}
