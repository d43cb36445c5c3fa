import { createCipheriv, createDecipheriv } from 'node:crypto'

/**
 * Numbers of the whole firm's audit log as they are told to those who see one client: the gaps between them would tell how
 * much else is done. Each is one block of AES with the end of the client's id, which is random, so that another client's
 * are not taken for it.
 */
export interface HiddenNumbers {
  hide(number: bigint): string
  /** Undefined for what `hide` has not made of a number for this client. */
  find(text: string): bigint | undefined
}

const cipher = 'aes-128-ecb'
const shape = /^[\w-]{22}$/

/** `key` has 16 bytes; `clientId` is a UUID. */
export function hiddenNumbers(key: Buffer, clientId: string): HiddenNumbers {
  const client = Buffer.from(clientId.replaceAll('-', '').slice(16), 'hex')
  return Object.freeze({
    hide(number: bigint) {
      const block = Buffer.alloc(16)
      block.writeBigInt64BE(number)
      client.copy(block, 8)
      const encryption = createCipheriv(cipher, key, null).setAutoPadding(false)
      return Buffer.concat([encryption.update(block), encryption.final()]).toString('base64url')
    },
    find(text: string) {
      const decryption = createDecipheriv(cipher, key, null).setAutoPadding(false)
      if (!shape.test(text)) return undefined
      const block = Buffer.concat([decryption.update(text, 'base64url'), decryption.final()])
      return block.subarray(8).equals(client) ? block.readBigInt64BE() : undefined
    },
  })
}
