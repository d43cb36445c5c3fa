import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { completeLinks } from './links.ts'
import { OperatorError } from '../problems.ts'

test('the links of the libraries are created once; without permission the error says who can create them', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'tollgate-binaries-'))
  await mkdir(path.join(root, 'native'))
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  await writeFile(path.join(root, 'native/pg-symlinks.json'), JSON.stringify(links))
  await assert.rejects(completeLinks(root), (error) => {
    assert.ok(error instanceof OperatorError)
    assert.match(
      error.message,
      /^PostgreSQL is not set up yet.*run ".\/tollgate doctor" once as the user that installed/,
    )
    return error.message.includes(root)
  })
  await mkdir(path.join(root, 'native/lib'))
  for (let round = 0; round < 2; round += 1) await completeLinks(root)
  assert.equal(await readlink(path.join(root, 'native/lib/libpq.so.5')), 'libpq.so.5.18')
  await rm(root, { recursive: true })
})
