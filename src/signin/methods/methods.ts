import type { MethodDefinition } from './definition.ts'
import { emailLink } from './email-link/email-link.ts'
import { oidc } from './oidc/oidc.ts'
import { passkey } from './passkey/passkey.ts'
import { password } from './password/password.ts'
import { recoveryCode } from './recovery-codes/recovery-codes.ts'
import { sms } from './sms/sms.ts'
import { totp } from './totp/totp.ts'

/** All of them, in the order in which people are offered them. */
export const methods: readonly MethodDefinition[] = [oidc, emailLink, password, passkey, totp, sms, recoveryCode]
