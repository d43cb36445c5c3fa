import { Type } from 'typebox'

/** The JSON schemas of the reviews of letters. */

const id = Type.String({ format: 'uuid' })
const person = Type.Object({ id, name: Type.String() })
const someone = Type.Union([person, Type.Null()], { description: 'Null for the command line.' })
const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })

export const letterReview = Type.Object({
  id,
  letter_id: id,
  reviewer: person,
  by: someone,
  at: time,
  letter_version: Type.Integer({ minimum: 1, description: 'The version of the letter when the review was asked for.' }),
  message: orNull('What the reviewer is to look at. Null: nothing in particular.'),
  status: Type.Enum(['open', 'lapsed', 'returned', 'approved', 'withdrawn'], {
    description:
      '`lapsed`: open, but the reviewer can no longer read the record. `approved`: the letter was approved, by the reviewer or by someone else.',
  }),
  reason: orNull('Why the letter was returned.'),
  ended_version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'The version of the letter that was returned or approved.',
  }),
  ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When it was returned, approved or withdrawn, in UTC.',
  }),
  ended_by: Type.Union([person, Type.Null()], { description: 'Who did that. Null while it is open.' }),
})
export type LetterReview = Type.Static<typeof letterReview>

export const letterReviewList = Type.Object({
  reviews: Type.Array(letterReview, { description: 'The latest first.' }),
  reviewers: Type.Array(
    Type.Object({
      id,
      name: Type.String(),
      may_approve: Type.Boolean({ description: 'Whether `letters.approval` lets them approve this letter.' }),
    }),
    { description: 'Whom you can ask, by name: the others who can read the record.' },
  ),
  may_approve: Type.Boolean({ description: 'Whether `letters.approval` lets you approve this letter.' }),
})
export type LetterReviewList = Type.Static<typeof letterReviewList>

export const letterReviewBody = Type.Object(
  {
    reviewer: Type.String({ maxLength: 100, description: 'The id of a person in `reviewers`.' }),
    message: Type.Optional(
      Type.String({ format: 'text', minLength: 1, maxLength: 2000, description: 'What they are to look at.' }),
    ),
  },
  { additionalProperties: false },
)
export type LetterReviewBody = Type.Static<typeof letterReviewBody>

export const letterReturnBody = Type.Object(
  {
    reason: Type.String({
      format: 'text',
      minLength: 1,
      maxLength: 5000,
      description: 'What is to be changed.',
    }),
  },
  { additionalProperties: false },
)
