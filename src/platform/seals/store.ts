import type { Database, Queryable } from '../database/database.ts'
import type { Chain } from './chains.ts'
import type { SealLine } from './seal-line.ts'

/** How far a chain is sealed, and what remains. */
export interface Horizon {
  readonly chain: string
  /** The last sealed row number. */
  readonly sealed: bigint
  /** The last row number that was drawn. */
  readonly last: bigint
  /** A transaction id younger than every transaction that drew a number up to `last`; null: nothing is unsealed. */
  readonly mark: string | null
  /** The oldest running transaction. */
  readonly oldest: string
}

export function readHorizons(database: Database): Promise<Horizon[]> {
  return database.rows('select chain, sealed, last, mark, oldest from seal_horizon()')
}

export interface AddedSeal extends SealLine {
  readonly rows: bigint
}

/** The next seal of a chain, of rows up to `upto`. Undefined: nothing to seal, or another instance is sealing. */
export async function addSeal(database: Database, chain: string, upto: bigint): Promise<AddedSeal | undefined> {
  const [seal] = await database.rows<AddedSeal>(
    `select chain, number, upto, rows, encode(hash, 'hex') as hash from add_seal($1, $2)`,
    [chain, upto],
  )
  return seal
}

/** The chains that the database has, each with the last row number that a seal covers. */
export function readChains(database: Queryable): Promise<{ readonly name: string; readonly upto: bigint }[]> {
  return database.rows(
    'select name, coalesce((select max(upto) from seal where chain = name), 0) as upto from seal_chain',
  )
}

/** The last seal of a chain, with the number of rows that all its seals cover; none if there is no seal. */
export function readLastSeal(database: Queryable, name: string): Promise<(SealLine & { readonly rows: bigint })[]> {
  return database.rows(
    `select chain, number, upto, encode(hash, 'hex') as hash,
       (select sum(rows)::bigint from seal where chain = $1) as rows
     from seal where chain = $1 order by number desc limit 1`,
    [name],
  )
}

/** Seals that do not continue the previous one, and a chain whose last seal is missing or changed. */
export function findBrokenLinks(tx: Queryable, chain: Chain): Promise<object[]> {
  return tx.rows(
    `select s.chain as table, s.number as seal, case
         when s.number <> s.before + 1 then 'a seal before it is missing'
         when s.upto <= s.after then 'it covers no new rows'
         else 'its hash does not continue the chain' end as fault
     from (
       select chain, number, upto, hash, lag(number, 1, 0::bigint) over chained as before, lag(upto, 1, 0::bigint) over chained as after,
         seal_hash(lag(hash, 1, ''::bytea) over chained, seal) as expected
       from seal where chain = $1 window chained as (order by number)) s
     where s.number <> s.before + 1 or s.upto <= s.after or s.hash <> s.expected
     union all
     select c.name, c.seals, 'this last seal is missing or was changed'
     from seal_chain c left join seal s on s.chain = c.name and s.number = c.seals
     where c.name = $1 and (c.upto, c.hash) is distinct from (coalesce(s.upto, 0), coalesce(s.hash, ''::bytea))
     union all
     select s.chain, s.number, 'it was not added by the sealer'
     from seal s join seal_chain c on c.name = s.chain where s.chain = $1 and s.number > c.seals
     order by 2 limit 10`,
    [chain.name],
  )
}

/** Rows whose numbers were never drawn from the sequence. */
export async function findStrayNumbers(tx: Queryable, { name, number, naming }: Chain): Promise<object[]> {
  // A separate statement: the planner uses the index only for a known number.
  const [drawn] = await tx.rows<{ last: bigint }>(`select last_number($1, '${number}') as last`, [name])
  return tx.rows(
    `select '${name}' as table, t.${number} as row, ${labelled(naming)}, case when t.${number} <= 0
         then 'its number is below 1' else 'its number was never drawn' end as fault
     from ${name} t where t.${number} <= 0 or t.${number} > $1 limit 10`,
    [drawn?.last],
  )
}

interface FaultySeal {
  readonly seal: bigint
  readonly after: bigint
  readonly upto: bigint
  readonly sealed_rows: bigint
  readonly rows_there: bigint
}

interface Ends {
  readonly after: bigint
  readonly upto: bigint
}

/** The seals that end in (after, upto] and whose rows changed. */
export function findFaultySeals(tx: Queryable, { name }: Chain, { after, upto }: Ends): Promise<FaultySeal[]> {
  return tx.rows('select * from faulty_seals($1, $2, $3)', [name, after, upto])
}

/** The rows of a faulty seal that changed, were added or are missing, at most ten. */
export function findFaultyRows(tx: Queryable, { name, number, naming }: Chain, seal: bigint): Promise<object[]> {
  return tx.rows(
    `select '${name}' as table, f.number as row, ${labelled(naming)}, f.fault, $2::bigint as seal
     from (select * from faulty_rows($1, $2) limit 10) f left join ${name} t on t.${number} = f.number
       and t.${number} > (select coalesce(max(upto), 0) from seal where chain = $1 and number < $2)
       and t.${number} <= (select upto from seal where chain = $1 and number = $2)
     order by 2`,
    [name, seal],
  )
}

/** Whether the checksums of the seals that end in (after, upto] are those of their rows; names the first and last seal. */
export async function findWrongChecksum(
  tx: Queryable,
  { name, checksum }: Chain,
  { after, upto }: Ends,
): Promise<object[]> {
  if (checksum === undefined) return []
  return tx.rows(
    `select $1 as table, seal, to_seal, 'the checksums of these seals are not those of their rows' as fault
     from (
       select min(number) as seal, max(number) as to_seal, max(upto) as upto, sum(checksum) as checksum,
         (select coalesce(max(b.upto), 0) from seal b where b.chain = $1 and b.upto <= $2) as after
       from seal where chain = $1 and upto > $2 and upto <= $3) s
     where seal is not null and checksum is distinct from ${checksum}(after, upto)`,
    [name, after, upto],
  )
}

/** Compares a seal that was kept elsewhere with the database. Empty if they are equal. */
export function findOtherSeal(tx: Queryable, { chain, number, upto, hash }: SealLine): Promise<object[]> {
  return tx.rows(
    `select $1 as table, $2::bigint as seal, $4 as kept_hash, encode(s.hash, 'hex') as hash,
       case when s.number is null then 'this seal is missing' else 'this seal was replaced' end as fault
     from (select) one left join seal s on s.chain = $1 and s.number = $2
     where (s.upto, encode(s.hash, 'hex')) is distinct from ($3::bigint, $4)`,
    [chain, number, upto, hash],
  )
}

const labelled = (naming: Chain['naming']): string =>
  Object.entries(naming)
    .map(([label, column]) => `t.${column} as ${label}`)
    .join(', ')
