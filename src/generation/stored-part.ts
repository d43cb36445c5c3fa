import { Type } from 'typebox'

/** A part of a reply as it is stored for a replay. */
export const storedPart = Type.Union([
  Type.Object({ kind: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    kind: Type.Literal('thinking'),
    text: Type.String(),
    signature: Type.Optional(Type.String()),
    redacted: Type.Optional(Type.Literal(true)),
  }),
  Type.Object({ kind: Type.Literal('call'), id: Type.String(), tool: Type.String(), input: Type.String() }),
])
