import { Type } from 'typebox'
import { mailState, sentWords } from '../../mail/sent-mails.ts'

/** The JSON schemas of invoices that are mailed. */

const kinds = ['invoice', 'reminder'] as const
export type InvoiceMailKind = (typeof kinds)[number]
const kind = Type.Enum([...kinds])
const to = Type.String({ maxLength: 254, description: 'The address of the payer.' })
const subject = (description: string) => Type.String({ format: 'line', minLength: 1, maxLength: 200, description })
const message = (description: string) => Type.String({ format: 'text', minLength: 1, maxLength: 5000, description })

export const invoiceMailBody = Type.Object(
  {
    to: Type.Optional(
      Type.String({
        maxLength: 254,
        description: "Default: the client's email address, or that of the account's billing details.",
      }),
    ),
    cc: Type.Optional(Type.String({ maxLength: 254, description: 'An address that gets a copy.' })),
    subject: Type.Optional(subject('Default: a standard subject with the invoice number.')),
    message: Type.Optional(message('The text. Default: a standard text with the amount and the due date.')),
  },
  { additionalProperties: false },
)
export type InvoiceMailBody = Type.Static<typeof invoiceMailBody>

export const invoiceMailQuery = Type.Object(
  { kind: Type.Optional(Type.Enum([...kinds], { description: 'Default `invoice`.' })) },
  { additionalProperties: false },
)

export const proposedMail = Type.Object({
  kind,
  to: Type.Union([to, Type.Null()], { description: 'Null if no address is known.' }),
  subject: subject('The subject.'),
  message: message('The text.'),
  file: Type.String({ description: 'The name of the attached PDF.' }),
})
export type ProposedMail = Type.Static<typeof proposedMail>

export const sentMail = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind,
  state: mailState('nothing was open, or the client disputed the invoice, when the reminder was due to be sent.'),
  to,
  cc: Type.Union([Type.String(), Type.Null()]),
  ...sentWords,
  by: Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()], {
    description: 'Null for an automatic reminder.',
  }),
})
export type SentMail = Type.Static<typeof sentMail>
