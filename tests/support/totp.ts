import { TOTP } from 'otpauth'

/** What the person's authenticator app shows, now or that many steps later. */
export function totpCode(secret: unknown, steps = 0): string {
  return TOTP.generate({ secret: new TOTP({ secret: String(secret) }).secret, timestamp: Date.now() + steps * 30_000 })
}
