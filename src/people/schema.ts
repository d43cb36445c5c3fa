import { Type } from 'typebox'

/** A change of a person. */
export const PersonChangeBody = Type.Object(
  {
    role: Type.Optional(Type.Enum(['consultant', 'partner'], { description: 'What the person may do from now on.' })),
    status: Type.Optional(Type.Enum(['active', 'disabled'], { description: 'Whether the person may sign in.' })),
  },
  { additionalProperties: false },
)
