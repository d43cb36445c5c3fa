import { Type } from 'typebox'
import { mailState, sentWords } from '../../../mail/sent-mails.ts'

/** The JSON schemas of letters that are mailed. */

const contact = Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
  description: 'The id of a contact of the client. Null: the client itself.',
})
const email = Type.String({ maxLength: 254, description: 'The email address.' })

const recipient = Type.Object(
  {
    contact,
    email: Type.String({ maxLength: 254, description: 'The address that you read. It must still be theirs.' }),
  },
  { additionalProperties: false },
)

export const letterMailBody = Type.Object(
  {
    to: Type.Array(recipient, { minItems: 1, maxItems: 20, description: 'Each gets a mail of their own.' }),
    subject: Type.Optional(
      Type.String({ format: 'line', minLength: 1, maxLength: 300, description: 'Default: the subject of the letter.' }),
    ),
    message: Type.Optional(
      Type.String({
        format: 'text',
        minLength: 1,
        maxLength: 5000,
        description: 'The text. Default: a standard text.',
      }),
    ),
    mails: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          '`mails` as you read it: refused if there are more by now, so that two people do not send the letter twice.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type LetterMailBody = Type.Static<typeof letterMailBody>

export const proposedLetterMail = Type.Object({
  recipients: Type.Array(
    Type.Object({ contact, name: Type.String(), job_title: Type.Union([Type.String(), Type.Null()]), email }),
    { description: 'The contacts with an email address, and the client if it has one.' },
  ),
  subject: Type.String({ description: 'The subject.' }),
  message: Type.String({ description: 'The text.' }),
  file: Type.String({ description: 'The name of the attached PDF.' }),
  mails: Type.Integer({ minimum: 0, description: 'How many mails with the letter were sent before.' }),
  version: Type.Integer({ minimum: 1, description: 'The version of the letter that would be sent.' }),
})
export type ProposedLetterMail = Type.Static<typeof proposedLetterMail>

export const letterMail = Type.Object({
  id: Type.String({ format: 'uuid' }),
  letter_id: Type.String({ format: 'uuid' }),
  state: mailState('not sent.'),
  contact,
  name: Type.String({ description: 'The name of the contact or the client, as it was then.' }),
  to: email,
  ...sentWords,
  by: Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()], {
    description: 'Null for the command line.',
  }),
})
export type LetterMail = Type.Static<typeof letterMail>

export const letterMailList = Type.Object({
  mails: Type.Array(letterMail, { description: 'As they were sent, in order: one for each recipient.' }),
})
export type LetterMailList = Type.Static<typeof letterMailList>
