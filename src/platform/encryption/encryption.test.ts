import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { createEncryption } from './encryption.ts'
import { ensureEncryptionKey, findEncryptionKey } from './encryption-key.ts'

const open = () => createEncryption(randomBytes(32))

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-key-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('an encrypted text', () => {
  test('is decrypted with the same key and context, and does not contain the text', () => {
    const { encrypt, decrypt } = open()
    for (const text of ['', 'a', 'Größe ✓', 'x'.repeat(10_000)]) {
      const bytes = encrypt(text, 'person-1')
      assert.equal(decrypt(bytes, 'person-1'), text)
      assert.ok(text.length < 3 || !bytes.includes(text))
    }
  })

  test('differs each time', () => {
    const { encrypt } = open()
    assert.notDeepEqual(encrypt('text', 'c'), encrypt('text', 'c'))
  })

  test('is not decrypted with another key, in another context, altered or cut', () => {
    const { encrypt, decrypt } = open()
    const bytes = encrypt('a secret', 'person-1')
    assert.equal(open().decrypt(bytes, 'person-1'), undefined)
    assert.equal(decrypt(bytes, 'person-2'), undefined)
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes)
      altered[at] = (altered[at] ?? 0) ^ 1
      assert.equal(decrypt(altered, 'person-1'), undefined, `byte ${at}`)
      assert.equal(decrypt(bytes.subarray(0, at), 'person-1'), undefined, `${at} bytes`)
    }
  })

  test('needs a key of 256 bits', () => {
    for (const size of [0, 16, 31, 33]) assert.throws(() => createEncryption(randomBytes(size)), RangeError)
  })
})

describe('the key', () => {
  test('is the setting if there is one', async () => {
    const key = randomBytes(32)
    const read = await ensureEncryptionKey({ encryption_key: key.toString('base64'), data: '/nonexistent/data' })
    assert.deepEqual(Buffer.from(read), key)
  })

  test('is otherwise a file that only its owner can read, the same for concurrent starts', async () => {
    await inFolder(async (folder) => {
      const data = path.join(folder, 'data')
      const keys = await Promise.all(Array.from({ length: 8 }, () => ensureEncryptionKey({ data })))
      assert.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1)
      assert.deepEqual(await readdir(data), ['encryption.key'])
      assert.equal((await stat(path.join(data, 'encryption.key'))).mode & 0o777, 0o600)
      assert.deepEqual(await ensureEncryptionKey({ data }), keys[0])
    })
  })

  test('is not created by looking for it', async () => {
    await inFolder(async (data) => {
      assert.equal(await findEncryptionKey({ data }), undefined)
      assert.deepEqual(await readdir(data), [])
      const created = await ensureEncryptionKey({ data })
      assert.deepEqual(await findEncryptionKey({ data }), created)
    })
  })

  test('that is damaged stops the start and is left unchanged', async () => {
    await inFolder(async (data) => {
      const file = path.join(data, 'encryption.key')
      await writeFile(file, 'short\n')
      await assert.rejects(ensureEncryptionKey({ data }), { name: 'OperatorError', message: /is damaged/ })
      assert.equal((await stat(file)).size, 6)
    })
  })

  test('that cannot be created stops the start with advice', async () => {
    await inFolder(async (folder) => {
      const data = path.join(folder, 'data')
      await mkdir(path.join(data, 'encryption.key'), { recursive: true })
      const message = /cannot be read or created.*or set encryption_key/s
      await assert.rejects(ensureEncryptionKey({ data }), { name: 'OperatorError', message })
    })
  })
})
