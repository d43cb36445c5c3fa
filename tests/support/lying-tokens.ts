import { generateKeyPairSync } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose'

/** How a token is signed: correctly, not at all, with the client's secret, or with an unknown key. */
export type Signature = 'right' | 'none' | 'secret' | 'stranger'

export interface Keys {
  /** The published keys. */
  readonly shown: () => JWK[]
  /** Signs with a new key. `weak` publishes a 1024-bit key instead, with the given key id or a new one. */
  rotate(options?: { readonly withdraw?: boolean; readonly weak?: boolean; readonly kid?: string }): Promise<void>
  sign(claims: object, how: TokenHow): Promise<string>
}

export interface TokenHow {
  readonly signature?: Signature | undefined
  readonly header?: Readonly<Record<string, unknown>> | undefined
  readonly secret: string
}

export async function createKeys(): Promise<Keys> {
  let made = 0
  const make = async ({ weak = false, kid }: { readonly weak?: boolean; readonly kid?: string } = {}) => {
    made++
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    const shown = weak
      ? generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
      : await exportJWK(publicKey)
    return { privateKey, jwk: { ...shown, kid: kid ?? `key-${made}`, alg: 'RS256', use: 'sig' } }
  }
  let keys = [await make()]

  return {
    shown: () => keys.map(({ jwk }) => jwk),
    async rotate({ withdraw = false, ...how } = {}) {
      keys = [await make(how), ...(withdraw ? [] : keys)]
    },
    async sign(claims, { signature = 'right', header = {}, secret }) {
      const [current] = keys
      if (current === undefined) throw new Error('there is no key')
      if (signature === 'none') return new UnsecuredJWT({ ...claims }).encode()
      if (signature === 'secret') return signed(claims, { alg: 'HS256', ...header }, new TextEncoder().encode(secret))
      const key = signature === 'stranger' ? (await generateKeyPair('RS256')).privateKey : current.privateKey
      return signed(claims, { alg: 'RS256', kid: current.jwk.kid, ...header }, key)
    },
  }
}

function signed(
  claims: object,
  header: { readonly alg: string } & Readonly<Record<string, unknown>>,
  key: CryptoKey | Uint8Array,
): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key)
}
