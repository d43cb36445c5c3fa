import { createCipheriv, createDecipheriv } from 'node:crypto'

/**
 * Encrypts row numbers of the audit log for people who see a single client: gaps between the numbers would reveal how much
 * happens elsewhere in the firm. Each ciphertext is one AES block that includes the random end of the client's id, so that
 * a number of another client is not accepted.
 */
export interface HiddenNumbers {
  hide(number: bigint): string
  /** Undefined unless `text` comes from `hide` for this client. */
  find(text: string): bigint | undefined
}

const cipher = 'aes-128-ecb'
const shape = /^[\w-]{22}$/

/** `key` has 16 bytes; `clientId` is a UUID. */
export function hiddenNumbers(key: Buffer, clientId: string): HiddenNumbers {
  const client = Buffer.from(clientId.replaceAll('-', '').slice(16), 'hex')
  return Object.freeze<HiddenNumbers>({
    hide(number) {
      const block = Buffer.alloc(16)
      block.writeBigInt64BE(number)
      client.copy(block, 8)
      const encryption = createCipheriv(cipher, key, null).setAutoPadding(false)
      return Buffer.concat([encryption.update(block), encryption.final()]).toString('base64url')
    },
    find(text) {
      const decryption = createDecipheriv(cipher, key, null).setAutoPadding(false)
      if (!shape.test(text)) return undefined
      const block = Buffer.concat([decryption.update(text, 'base64url'), decryption.final()])
      return block.subarray(8).equals(client) ? block.readBigInt64BE() : undefined
    },
  })
}
