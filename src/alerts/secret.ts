import { randomBytes } from 'node:crypto'

/** 256 bits, as the text that the receiver of a webhook stores. */
export const newWebhookSecret = (): string => randomBytes(32).toString('base64url')

/** Binds an encrypted secret to its rule. */
export const secretContext = (ruleId: string): string => `alert ${ruleId}`
