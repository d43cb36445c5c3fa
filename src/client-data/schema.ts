import { Type } from 'typebox'
import { scheduledErasure } from '../clients/schema.ts'

/** The JSON schemas of erasures. */

export const newErasure = Type.Object(
  {
    reason: Type.String({
      format: 'line',
      minLength: 1,
      maxLength: 500,
      description:
        'Why the client is to be erased. It is kept after the erasure, so it may not contain the name, the reference or the email address of the client.',
    }),
  },
  { additionalProperties: false },
)

export const erasureEffects = Type.Object({
  effects: Type.Array(Type.String(), {
    description: 'What is still to be done for the client and would be lost or could no longer be done, as sentences.',
  }),
})
export type ErasureEffects = Type.Static<typeof erasureEffects>

export const erasureQuery = Type.Object(
  {
    status: Type.Optional(
      Type.Enum(['scheduled', 'performed'], { description: 'Default `scheduled`: those that are still to come.' }),
    ),
  },
  { additionalProperties: false },
)
export type ErasureQuery = Type.Static<typeof erasureQuery>

const text = Type.Union([Type.String(), Type.Null()])

export const listedErasure = Type.Object({
  client: Type.Object(
    { id: Type.String(), name: Type.String(), reference: text },
    { description: 'After the erasure, only its id is left.' },
  ),
  ...scheduledErasure.properties,
  performed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the client was erased; null before.',
  }),
})
export type ListedErasure = Type.Static<typeof listedErasure>

export const erasureList = Type.Object({
  erasures: Type.Array(listedErasure, {
    description: 'At most 200: the next to come, or the last that were performed.',
  }),
  total: Type.Integer({ minimum: 0, description: 'The number of all.' }),
})
export type ErasureList = Type.Static<typeof erasureList>
