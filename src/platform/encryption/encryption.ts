import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const sizes = { key: 32, nonce: 12, tag: 16 }

/** Encrypts secrets and documents that are stored, and authenticates what anyone may read there, with a key that is not. */
export interface Encryption {
  /** `context` binds the result to its row: decryption requires the same one. */
  encrypt(this: void, plain: string | Uint8Array, context: string): Buffer
  /** Undefined if the bytes were encrypted with another key, for another context, or were altered. */
  decrypt(this: void, bytes: Uint8Array, context: string): string | undefined
  /** The same for what is not text. */
  decryptBytes(this: void, bytes: Uint8Array, context: string): Buffer | undefined
  /** HMAC-SHA256. Begin the text with what it is for. */
  mac(this: void, text: string): Buffer
}

/** AES-256-GCM. The result is the nonce, the tag and the ciphertext. Throws RangeError unless the key has 32 bytes. */
export function createEncryption(key: Uint8Array): Encryption {
  if (key.length !== sizes.key) throw new RangeError(`the key has ${key.length} bytes, not ${sizes.key}`)
  const macKey = Buffer.from(hkdfSync('sha256', key, '', 'mac', sizes.key))

  function decryptBytes(bytes: Uint8Array, context: string): Buffer | undefined {
    const [nonce, rest] = [bytes.subarray(0, sizes.nonce), bytes.subarray(sizes.nonce)]
    if (rest.length < sizes.tag) return undefined
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: sizes.tag })
    decipher.setAAD(Buffer.from(context)).setAuthTag(rest.subarray(0, sizes.tag))
    const plain = decipher.update(rest.subarray(sizes.tag))
    try {
      return Buffer.concat([plain, decipher.final()])
    } catch {
      return undefined
    }
  }

  return Object.freeze<Encryption>({
    decryptBytes,
    decrypt: (bytes, context) => decryptBytes(bytes, context)?.toString('utf8'),
    mac: (text) => createHmac('sha256', macKey).update(text).digest(),
    encrypt(plain, context) {
      const nonce = randomBytes(sizes.nonce)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
      const encrypted = Buffer.concat([
        typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
        cipher.final(),
      ])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
    },
  })
}
