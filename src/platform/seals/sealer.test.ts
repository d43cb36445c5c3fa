import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { sealAll, tamper } from '../../../tests/support/tamper.ts'
import { until } from '../../../tests/support/until.ts'
import { type Database } from '../database/database.ts'
import { chains } from './chains.ts'
import { createSealer } from './sealer.ts'
import { startSealing } from './sealing.ts'
import { verifySeals } from './verify.ts'

const { log, text: logged } = createTestLog()
const { database } = openOwnDatabase(log)

const write = (action: string, on: Pick<Database, 'rows'> = database) =>
  on.rows(`insert into audit (actor, action, outcome) values ('service', $1, 'allowed')`, [action])
const price = (model: string) =>
  database.rows(`insert into price (model, valid_from, input, output, source) values ($1, now(), 1, 2, 'command')`, [
    model,
  ])
const faults = async () => (await verifySeals(database)).flatMap((check) => check.faults)
const sealedUpTo = () =>
  database.rows<{ upto: bigint }>(`select upto from seal_chain where name = 'audit'`).then(([row]) => row?.upto)

async function sealing({ seal }: ReturnType<typeof createSealer>): Promise<void> {
  for (let n = 0; n < 20; n += 1) await seal()
}

async function writing(): Promise<void> {
  for (let n = 0; n < 40; n += 1) await write('busy')
}

/** The database as if this were its server's oldest running transaction. Other tests have transactions on the same server. */
const withOldest = (oldest: string): Database => ({
  ...database,
  rows: async <Row>(...args: Parameters<Database['rows']>) =>
    (await database.rows<Row>(...args)).map((row) => ({ ...row, oldest })),
})

const changedRows = async (turn: number) =>
  (await verifySeals(database, { sample: 20_000, turn })).find(({ name }) =>
    name.startsWith('the sealed rows of audit'),
  )

describe('the sealer', () => {
  test('covers every append-only table', async () => {
    const tables = await database.rows<{ name: string }>(
      `select distinct tgrelid::regclass::text as name from pg_trigger where tgname = 'append_only' and tgrelid <> 'seal'::regclass
       order by 1`,
    )
    assert.deepEqual(
      tables.map(({ name }) => name),
      // The digest of a file is in the row of its mail.
      [...chains.map(({ name }) => name), 'invoice_file'].toSorted(),
    )
    assert.deepEqual(
      await database.rows('select name, number from seal_chain order by name'),
      chains.map(({ name, number }) => ({ name, number })).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    )
  })

  test('logs a line for each seal', async () => {
    await write('first')
    await sealAll(database)
    assert.deepEqual(await faults(), [])
    const [line] = await database.rows<{ text: string }>(
      `select format('%s:%s:%s:%s', chain, number, upto, encode(hash, 'hex')) as text from seal`,
    )
    assert.match(line?.text ?? '', /^audit:1:1:[0-9a-f]{64}$/)
    const background = startSealing({ database, log, pause: 1 })
    await write('second')
    await until(() => /"seal":"audit:2:2:[0-9a-f]{64}","rows":"1","msg":"rows sealed"/.test(logged()))
    await background.close()
  })

  test('seals the rest when it is closed, unless a transaction of any database of the server is open', async () => {
    const background = startSealing({ database: withOldest('9000000000000'), log, pause: 3_600_000 })
    await write('last')
    await background.close()
    const [last] = await database.rows<{ id: bigint }>('select max(id) as id from audit')
    assert.equal(await sealedUpTo(), last?.id)
    const waiting = startSealing({ database: withOldest('1'), log, pause: 3_600_000 })
    await write('later')
    await waiting.close()
    assert.equal(await sealedUpTo(), last?.id)
  })

  test('adds no seal while nothing is written', async () => {
    await sealAll(database)
    const count = () => database.rows('select count(*) from seal')
    const seals = await count()
    const sealer = createSealer({ database, log })
    for (let n = 0; n < 5; n += 1) await sealer.seal()
    assert.deepEqual(await count(), seals)
  })

  test('lets one of several instances seal at a time, in one chain, while all of them write', async () => {
    const sealers = [1, 2, 3].map(() => createSealer({ database, log }))
    const verify = async () => {
      for (let n = 0; n < 5; n += 1) assert.deepEqual(await faults(), [])
    }
    await Promise.all([...sealers.map(sealing), writing(), writing(), verify()])
    await sealAll(database)
    assert.deepEqual(await faults(), [])
    const [row] = await database.rows<{ all: bigint; sealed: bigint }>(
      `select (select count(*) from audit) as all, (select sum(rows) from seal where chain = 'audit')::bigint as sealed`,
    )
    assert.equal(row?.sealed, row?.all)
  })

  test('waits for a transaction with a smaller number, even if that began last', async () => {
    await sealAll(database)
    const [first, second] = [await database.connect(), await database.connect()]
    // The first has the smaller transaction id and the larger number, and commits first.
    for (const session of [first, second]) {
      await session.rows('begin')
      await session.rows('select pg_current_xact_id()')
    }
    await write('slow', second)
    await write('quick', first)
    await first.rows('commit')
    const earlier = await sealedUpTo()
    const sealer = createSealer({ database, log })
    for (let n = 0; n < 5; n += 1) await sealer.seal()
    assert.equal(await sealedUpTo(), earlier)
    await second.rows('commit')
    await Promise.all([first.close(), second.close()])
    await sealAll(database)
    assert.deepEqual(await faults(), [])
  })

  test('seals fewer than 20 000 numbers at once', async () => {
    await database.rows(
      `insert into audit (actor, action, outcome) select 'service', 'many', 'allowed' from generate_series(1, 45000)`,
    )
    const [earlier] = await database.rows<{ seals: bigint }>(`select seals from seal_chain where name = 'audit'`)
    await sealAll(database)
    const [later] = await database.rows<{ seals: bigint }>(`select seals from seal_chain where name = 'audit'`)
    assert.equal(Number(later?.seals) - Number(earlier?.seals), 3)
    assert.deepEqual(await faults(), [])
  })
})

describe('a sample of the seals', () => {
  test('reads the newest rows and one part in turn; together the parts read everything', async () => {
    const { sample } = (await changedRows(0)) ?? {}
    assert.equal(sample, 'part 1 of 3')
    await tamper(database, `update audit set outcome = 'refused' where id in (1, 15000, (select max(id) from audit))`)
    const found = await Promise.all([0, 1, 2, 3].map(changedRows))
    const [newest] = await database.rows<{ id: bigint }>('select max(id) as id from audit')
    const rows = found.map((check) => check?.faults.map((fault) => ('row' in fault ? fault.row : undefined)))
    assert.deepEqual(rows, [[1n, newest?.id], [15_000n, newest?.id], [newest?.id], [1n, newest?.id]])
    const lines: string[] = []
    const full = await verifySeals(database, { full: true, sample: 20_000, onProgress: (line) => lines.push(line) })
    assert.equal(full.flatMap((check) => check.faults).length, 3)
    assert.ok(full.every(({ sample: part }) => part === undefined))
    await tamper(database, `update audit set outcome = 'allowed' where outcome = 'refused'`)
    assert.deepEqual(await faults(), [])
  })
})

describe('a changed database', () => {
  test('restored into a cluster with smaller transaction ids is sealed further', async () => {
    const sealer = createSealer({
      log,
      database: {
        ...database,
        rows: async <Row>(...args: Parameters<Database['rows']>) => {
          const rows = await database.rows<Row>(...args)
          const ids = { mark: '9000000000000', oldest: '9000000000000' }
          return restored ? rows : rows.map((row) => ({ ...row, ...ids }))
        },
      },
    })
    let restored = false
    await write('before')
    await sealer.seal()
    restored = true
    const [last] = await database.rows<{ id: bigint }>('select max(id) as id from audit')
    await until(async () => {
      await sealer.seal()
      return (await sealedUpTo()) === last?.id
    })
    assert.deepEqual(await faults(), [])
  })

  test('gets no new chain over old rows: sealing stops for that table with a logged error, and continues for others', async () => {
    await write('another')
    await sealAll(database)
    await tamper(database, `delete from seal where chain = 'audit'`)
    await write('later')
    await price('m')
    const sealer = createSealer({ database, log })
    const sealedPrices = () =>
      database.rows<{ rows: bigint }>(`select coalesce(sum(rows), 0)::bigint as rows from seal where chain = 'price'`)
    await until(async () => {
      await sealer.seal()
      return (await sealedPrices())[0]?.rows === 1n
    })
    assert.deepEqual(await database.rows(`select number from seal where chain = 'audit'`), [])
    assert.match(logged(), /"level":50.*"chain":"audit".*seals were tampered with/)
    assert.ok((await faults()).length > 0)
  })
})
