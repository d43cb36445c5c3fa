import type { BrowserContext, Page } from 'playwright-core'

/** An authenticator that the browser simulates, with its passkeys. */
export interface VirtualAuthenticator {
  /** How many passkeys it holds. */
  count(): Promise<number>
  /** Whether the person presses its button. Without that, ceremonies stay pending. */
  setPresent(isPresent: boolean): Promise<void>
}

/** Gives a page an authenticator: one that can verify the person (PIN, fingerprint), or one that only shows possession. */
export async function addVirtualAuthenticator(
  profile: BrowserContext,
  page: Page,
  { verifies = true }: { readonly verifies?: boolean } = {},
): Promise<VirtualAuthenticator> {
  const protocol = await profile.newCDPSession(page)
  await protocol.send('WebAuthn.enable')
  const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: verifies,
      isUserVerified: verifies,
      automaticPresenceSimulation: true,
    },
  })
  return {
    async count() {
      const { credentials } = await protocol.send('WebAuthn.getCredentials', { authenticatorId })
      return credentials.length
    },
    setPresent: async (enabled) =>
      void (await protocol.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })),
  }
}
