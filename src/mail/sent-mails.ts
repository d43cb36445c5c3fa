import { Type } from 'typebox'
import { Problem } from '../platform/problems.ts'

/** What the mails that their senders keep have in common, on the wire and in the database. */

const states = ['waiting', 'queued', 'sent', 'given_up', 'withdrawn'] as const
export type MailState = (typeof states)[number]

export const mailState = (withdrawn: string) =>
  Type.Enum([...states], {
    description: `\`waiting\` and \`queued\`: on its way. \`sent\`: the mail server accepted it. \`given_up\`: it did not. \`withdrawn\`: ${withdrawn}`,
  })

/** The words and the file of a mail as it was sent. */
export const sentWords = {
  subject: Type.String({ description: 'The subject.' }),
  message: Type.String({ description: 'The text.' }),
  file_digest: Type.String({ description: 'The SHA-256 of the attached PDF.' }),
  at: Type.String({ format: 'date-time', description: 'A date and time in UTC.' }),
}

export const noMailServer = (): Problem =>
  new Problem('conflict', 'No mail server is configured: set `mail`, or send the PDF yourself.')

export const otherMail = (): Problem =>
  new Problem('conflict', 'This Idempotency-Key was used for another mail. Nothing was sent.')
