import { Type } from 'typebox'
import { Value } from 'typebox/value'

/**
 * An authenticator's response, as browsers encode it (WebAuthn Level 3 section 5.1). The library checks the contents.
 */
const bytes = Type.String({ minLength: 1, maxLength: 65_536, pattern: '^[A-Za-z0-9_-]+$' })
const common = { id: bytes, rawId: bytes, type: Type.Literal('public-key') }

const Registration = Type.Object({
  credential: Type.Object({
    ...common,
    response: Type.Object({
      clientDataJSON: bytes,
      attestationObject: bytes,
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 20, pattern: '^[a-z-]+$' }), { maxItems: 10 })),
    }),
  }),
})
const Assertion = Type.Object({
  credential: Type.Object({
    ...common,
    response: Type.Object({
      clientDataJSON: bytes,
      authenticatorData: bytes,
      signature: bytes,
      userHandle: Type.Optional(Type.Union([bytes, Type.Null()])),
    }),
  }),
})

export type RegistrationResponse = Type.Static<typeof Registration>['credential']
export type AssertionResponse = Type.Static<typeof Assertion>['credential']

/** Undefined if the submission has no credential of this form. */
export function readRegistration(input: unknown): RegistrationResponse | undefined {
  return Value.Check(Registration, input) ? input.credential : undefined
}

/** Undefined if the submission has no credential of this form. */
export function readAssertion(input: unknown): AssertionResponse | undefined {
  return Value.Check(Assertion, input) ? input.credential : undefined
}
