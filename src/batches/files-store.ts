import type { Queryable } from '../platform/database/database.ts'

/** A file that was uploaded. */
export interface FileRow {
  readonly id: string
  /** Encrypted. */
  readonly name: Buffer
  readonly bytes: bigint
  readonly lines: number
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A line of a file or a batch, encrypted. */
export interface StoredLine {
  readonly number: number
  readonly content: Buffer
  /** The client that it names. */
  readonly clientId: string | null
}

const fields = 'id, name, bytes, lines, created_at as "createdAt", expires_at as "expiresAt"'

/** Bytes of lines that one statement reads at most, besides one line. */
export const mostRead = 1024 * 1024

/** Begins a file that nobody sees yet. */
export async function insertFile(
  database: Queryable,
  file: { readonly id: string; readonly accountId: string; readonly name: Buffer; readonly kept: string },
): Promise<void> {
  await database.rows(
    `insert into batch_file (id, account_id, name, expires_at) values ($1, $2, $3, clock_timestamp() + $4::interval)`,
    [file.id, file.accountId, file.name, file.kept],
  )
}

/** Adds lines to a file or a batch that is arriving. */
export async function insertLines(
  database: Queryable,
  of: 'batch_file' | 'batch',
  id: string,
  lines: readonly StoredLine[],
): Promise<void> {
  const [table, owner] = of === 'batch' ? ['batch_line', 'batch_id'] : ['batch_file_line', 'file_id']
  await database.rows(
    `insert into ${table} (${owner}, number, content, client_id)
     select $1, number, content, client_id from unnest($2::integer[], $3::bytea[], $4::uuid[]) l(number, content, client_id)`,
    [id, lines.map(({ number }) => number), lines.map(({ content }) => content), lines.map(({ clientId }) => clientId)],
  )
}

/** Counts bytes of a file or a batch that is arriving, until its size is known. */
export async function addBytes(
  database: Queryable,
  of: 'batch_file' | 'batch',
  id: string,
  bytes: number,
): Promise<void> {
  await database.rows(`update ${of} set bytes = bytes + $2 where id = $1`, [id, bytes])
}

/** Forgets a file that has not arrived completely. */
export async function dropFile(database: Queryable, id: string): Promise<void> {
  await database.rows('delete from batch_file where id = $1 and uploaded_at is null', [id])
}

/** Makes an uploaded file visible. */
export async function publishFile(
  database: Queryable,
  id: string,
  {
    lines,
    bytes,
    keptSeconds,
  }: { readonly lines: number; readonly bytes: number; readonly keptSeconds: number | null },
): Promise<FileRow | undefined> {
  const [row] = await database.rows<FileRow>(
    `update batch_file set uploaded_at = clock_timestamp(), lines = $2, bytes = $3, expires_at = least(expires_at, created_at + make_interval(secs => $4))
     where id = $1 and uploaded_at is null returning ${fields}`,
    [id, lines, bytes, keptSeconds],
  )
  return row
}

export async function readFile(database: Queryable, accountId: string, id: string): Promise<FileRow | undefined> {
  const [row] = await database.rows<FileRow>(
    `select ${fields} from batch_file where id = $1 and account_id = $2 and uploaded_at is not null and expires_at > clock_timestamp()`,
    [id, accountId],
  )
  return row
}

/** The files of an account, the newest first, after the file `after`. */
export function readUploads(
  database: Queryable,
  accountId: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<FileRow[]> {
  return database.rows(
    `select ${fields} from batch_file
     where account_id = $1 and uploaded_at is not null and expires_at > clock_timestamp() and ($2::uuid is null or id < $2)
     order by id desc limit $3`,
    [accountId, after, limit],
  )
}

/** Its next lines after `after`, some megabytes at most. */
export function readFileLines(database: Queryable, fileId: string, after: number): Promise<StoredLine[]> {
  return database.rows(
    `select number, content, client_id as "clientId" from (
       select number, content, client_id, sum(octet_length(content)) over (order by number) - octet_length(content) as before from (
         select number, content, client_id from batch_file_line where file_id = $1 and number > $2 order by number limit 500) l) l
     where before < $3 order by number`,
    [fileId, after, mostRead],
  )
}

/** False if there is no such file. */
export async function deleteFile(database: Queryable, accountId: string, id: string): Promise<boolean> {
  const rows = await database.rows(
    'delete from batch_file where id = $1 and account_id = $2 and uploaded_at is not null returning 1',
    [id, accountId],
  )
  return rows.length > 0
}

/** The bytes of all that an account has uploaded and that is still kept. */
export async function readStoredBytes(database: Queryable, accountId: string): Promise<bigint> {
  const [row] = await database.rows<{ bytes: bigint }>(
    `select (select coalesce(sum(bytes), 0) from batch_file where account_id = $1)
       + (select coalesce(sum(bytes), 0) from batch where account_id = $1 and (ended_at is null or results_until is not null)) as bytes`,
    [accountId],
  )
  return row?.bytes ?? 0n
}
