import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'

export const canUsePasskeys = browserSupportsWebAuthn()

/** Whether the browser can offer passkeys in the autofill of a field. */
export const canOfferPasskeys = browserSupportsWebAuthnAutofill

/** Ends what the browser offers or asks now. */
export function stopPasskeys(): void {
  WebAuthnAbortService.cancelCeremony()
}

/** Lets the person use a passkey. With `isOffered`, only once they choose one in the autofill of a field. */
export async function assertPasskey(options: PublicKeyCredentialRequestOptionsJSON, isOffered = false) {
  try {
    return await startAuthentication({ optionsJSON: options, useBrowserAutofill: isOffered })
  } catch (error) {
    throw explained(error, 'No passkey was used: it was cancelled, took too long, or there is none on this device.')
  }
}

/** Lets the person create a passkey. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON) {
  try {
    return await startRegistration({ optionsJSON: options })
  } catch (error) {
    throw explained(error, 'No passkey was created: it was cancelled, took too long, or this device cannot hold one.')
  }
}

/** The person chose another way, or the page replaced the challenge. */
export class PasskeyAborted extends Error {}

function explained(error: unknown, usual: string): Error {
  if (error instanceof WebAuthnError && error.code === 'ERROR_CEREMONY_ABORTED') return new PasskeyAborted(usual)
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') {
    return new Error('This device already has a passkey of yours.')
  }
  if (error instanceof Error && error.name === 'SecurityError') {
    return new Error('Passkeys do not work at this address. They need https and a host name.')
  }
  return new Error(usual, { cause: error })
}
