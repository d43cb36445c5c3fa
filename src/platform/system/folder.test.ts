import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { makeFolder } from './folder.ts'

let place: string
before(async () => {
  place = await mkdtemp(join(tmpdir(), 'tollgate-folder-'))
})
after(() => rm(place, { recursive: true }))

test('a folder is created with its parents and mode; creating it again changes nothing', async () => {
  const folder = join(place, 'a', 'b', 'c')
  for (let round = 0; round < 2; round++) await makeFolder(folder, 0o700)
  for (const each of [folder, join(place, 'a')]) assert.equal((await stat(each)).mode & 0o777, 0o700)
  await symlink(folder, join(place, 'link'))
  await makeFolder(join(place, 'link'))
  await makeFolder('/')
})

test('the same folder can be created concurrently', async () => {
  for (let round = 0; round < 100; round++) {
    const folder = join(place, `${round}`, 'x', 'y', 'z')
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(folder)))
    assert.ok((await stat(folder)).isDirectory())
  }
})

test("a file in the way is reported with the system's error", async () => {
  await writeFile(join(place, 'file'), '')
  await symlink(join(place, 'gone'), join(place, 'dangling'))
  await assert.rejects(makeFolder(join(place, 'file')), { code: 'EEXIST' })
  await assert.rejects(makeFolder(join(place, 'file', 'below')), { code: 'ENOTDIR' })
  await assert.rejects(makeFolder(join(place, 'dangling')), { code: 'EEXIST' })
  await assert.rejects(makeFolder(join(place, 'dangling', 'below')), { code: 'EEXIST' })
})
