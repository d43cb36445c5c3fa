import type { Person } from '../../../people/person.ts'
import type { AttemptData, Challenge } from '../method.ts'
import type { PasskeyRow } from './store.ts'
import type { AssertionResponse, RegistrationResponse } from './responses.ts'
import type { PasskeySite } from './site.ts'

/** How long a challenge is valid, in ms. */
const lifetime = 5 * 60_000
/** The name that authenticators show. */
const rpName = 'Tollgate'
/** EdDSA, ES256 and RS256, by their numbers in COSE (RFC 9053, RFC 8812). */
const algorithms = [-8, -7, -257]

/** The two ceremonies of WebAuthn Level 3, sections 7.1 and 7.2. The challenges have 256 random bits. */
export interface Ceremonies {
  beginRegistration(owner: Owner, existing: readonly PasskeyRow[]): Promise<Challenge>
  /** Throws any error if the response is not valid for the challenge. */
  completeRegistration(response: RegistrationResponse, data: AttemptData): Promise<Registered>
  /** For the given passkeys, or for any that the authenticator finds. */
  beginAssertion(passkeys?: readonly PasskeyRow[]): Promise<Challenge>
  /** Throws any error if the response is not valid for the challenge. The caller judges the counter. */
  completeAssertion(response: AssertionResponse, data: AttemptData, passkey: PasskeyRow): Promise<Asserted>
}

interface Owner extends Pick<Person, 'name' | 'email'> {
  readonly handle: Buffer
}

interface Registered {
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: number
}

interface Asserted {
  readonly counter: number
  /** By a PIN, a fingerprint or a face, in addition to the possession of the passkey. */
  readonly isVerified: boolean
}

/** Loaded when it is first used: it takes 30 MB, which an installation without passkeys does not need. */
const library = () => import('@simplewebauthn/server')

export function createCeremonies({ origin, rpId }: PasskeySite, clock: () => number): Ceremonies {
  const begun = (options: { readonly challenge: string }): Challenge => ({
    data: { challenge: options.challenge, expires: clock() + lifetime },
    challenge: { options },
  })

  function expectedBy({ challenge, expires }: AttemptData) {
    if (typeof challenge !== 'string' || typeof expires !== 'number') throw new Error('no challenge was begun')
    if (clock() >= expires) throw new Error('the challenge has expired')
    return { expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: rpId }
  }

  return {
    async beginRegistration({ handle, name, email }, existing) {
      const { generateRegistrationOptions } = await library()
      const options = await generateRegistrationOptions({
        rpName,
        rpID: rpId,
        userID: new Uint8Array(handle),
        userName: email ?? name,
        userDisplayName: name,
        attestationType: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: existing.map(describe),
        supportedAlgorithmIDs: algorithms,
        timeout: lifetime,
      })
      return begun(options)
    },
    async completeRegistration(response, data) {
      const { verifyRegistrationResponse } = await library()
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        ...expectedBy(data),
        response: { ...response, clientExtensionResults: {} },
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms,
      })
      if (!verified) throw new Error('the attestation is not valid')
      const { id, publicKey, counter } = registrationInfo.credential
      return { credentialId: Buffer.from(id, 'base64url'), publicKey: Buffer.from(publicKey), counter }
    },
    async beginAssertion(passkeys) {
      const { generateAuthenticationOptions } = await library()
      const options = await generateAuthenticationOptions({
        rpID: rpId,
        // As the only factor it should verify the person. As the second one, possession is enough.
        userVerification: passkeys === undefined ? 'preferred' : 'discouraged',
        ...(passkeys && { allowCredentials: passkeys.map(describe) }),
        timeout: lifetime,
      })
      return begun(options)
    },
    async completeAssertion({ response, ...credential }, data, passkey) {
      const { userHandle, ...rest } = response
      const { verifyAuthenticationResponse } = await library()
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...expectedBy(data),
        response: {
          ...credential,
          response: { ...rest, ...(userHandle && { userHandle }) },
          clientExtensionResults: {},
        },
        credential: {
          id: passkey.credentialId.toString('base64url'),
          publicKey: new Uint8Array(passkey.publicKey),
          // Not judged here: two responses at once must not both pass.
          counter: 0,
        },
        requireUserVerification: false,
      })
      if (!verified) throw new Error('the signature is wrong')
      return { counter: authenticationInfo.newCounter, isVerified: authenticationInfo.userVerified }
    },
  }
}

function describe({ credentialId, transports }: PasskeyRow) {
  return { id: credentialId.toString('base64url'), transports: [...transports] }
}
