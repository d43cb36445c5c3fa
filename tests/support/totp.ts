import { TOTP } from 'otpauth'

/** What the person's authenticator app shows at `now`, in ms since 1970, or that many steps later. */
export function totpCode(secret: unknown, steps = 0, now = Date.now()): string {
  return TOTP.generate({ secret: new TOTP({ secret: String(secret) }).secret, timestamp: now + steps * 30_000 })
}
