import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { proven } from '../../platform/database/proven-store.ts'
import { logged, loggedValues, within } from '../statements-store.ts'
import type { ChunkRow } from './storage/storage.ts'

/** An upload in PostgreSQL's JSON. */
export interface UploadJson {
  readonly id: string
  readonly bytes: number
  readonly received: number
  readonly digest: string | null
  readonly type: string | null
}

/** The client of an upload, if it is within the scope, and the upload, if it exists. */
export interface UploadRow {
  readonly consultant_id: string
  readonly status: 'active' | 'archived'
  readonly upload: UploadJson | null
}

interface UploadWrite {
  readonly visit: Visit
  readonly clientId: string
  readonly id: string
}

export function readUpload(scope: Scope, clientId: string, id: string): PreparedStatement<UploadRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `upload ${name}`,
    text: `select c.consultant_id, c.status, (
        select row_to_json(u) from (
          select u.id, u.bytes, u.received, encode(u.digest, 'hex') as digest, u.type
          from document_upload u where u.client_id = c.id and u.id = $3) u) as upload
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, id],
  }
}

/** Inserts nothing if the client is archived or outside the scope, or the upload exists. `bytes`: the size when it is complete. */
export function insertUpload(
  scope: Scope,
  { visit, clientId, id, bytes }: UploadWrite & { readonly bytes: number },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `insert upload ${name}`,
    text: `with here as materialized (
        select c.id from client c where ${condition} and c.id = $2 and c.status = 'active' for key share of c),
      changed as (
        insert into document_upload (id, client_id, bytes) select $3, here.id, $4 from here
        on conflict do nothing returning id, client_id, 1 as version)
      ${logged('document', `'upload_started'`, 5)}`,
    values: [value, clientId, id, bytes, ...loggedValues(visit, [])],
  }
}

/** An upload that is not complete, if its client is active and within the scope. Locked, because an erasure or the sweeping could remove it at the same time. */
const here = (condition: string) => `select u.id, u.client_id, u.bytes, u.received from client c, document_upload u
  where ${condition} and c.id = $2 and c.status = 'active' and u.client_id = c.id and u.id = $3 and u.digest is null`
const locked = 'for key share of c for no key update of u'

/**
 * Lets a transaction commit without waiting for the disk. It is durable once a later transaction is: PostgreSQL's log is written in order. So no
 * response may be sent before one.
 */
export const commitLater: PreparedStatement = {
  name: 'commit later',
  text: `select set_config('synchronous_commit', 'off', true)`,
}

/**
 * Adds a chunk of an upload. Returns no row if the bytes before it are not those that have arrived, if it is too long, if its object was
 * noted too long ago, or if the client is archived or outside the scope.
 */
export function insertChunk(
  scope: Scope,
  { clientId, id, start, bytes, ...stored }: Omit<UploadWrite, 'visit'> & NewChunk,
): PreparedStatement {
  const { condition, value, name } = within(scope)
  const isObject = 'object' in stored
  return {
    name: `insert ${isObject ? 'object of chunk' : 'chunk'} ${name}`,
    text: `with here as materialized (
        ${here(condition)} and u.received = $4::bigint and $4::bigint + $5::integer <= u.bytes ${locked}),
      ${isObject ? keptObject : 'placed as (select here.* from here)'},
      stored as (
        insert into document_chunk (client_id, upload_id, start, bytes, ${isObject ? 'object' : 'data'})
        select client_id, id, $4::bigint, $5::integer, $6::bytea from placed)
      update document_upload u set received = u.received + $5::integer, touched_at = record_time()
      from placed where u.id = placed.id returning true as done`,
    values: [value, clientId, id, start, bytes, isObject ? stored.object : stored.data],
  }
}

/** The sweeping removes an object once its time is over. An hour is much longer than a statement may take. */
const keptObject = `placed as (
        update document_object o set remove_after = null from here
        where o.digest = $6::bytea and o.client_id = here.client_id and o.remove_after > clock_timestamp() + interval '1 hour'
        returning here.*)`

/** A chunk of bytes, encrypted. */
export type NewChunk = {
  /** The number of bytes before it. */
  readonly start: number
  /** The number of its bytes before they were encrypted. */
  readonly bytes: number
} & ({ readonly data: Buffer } | { readonly object: Buffer })

/** Makes a content of an upload that has all its bytes, unless the client has the same content already. One that no document uses is then kept for another day. */
export function completeUpload(
  scope: Scope,
  { clientId, id, digest, type }: Omit<UploadWrite, 'visit'> & { readonly digest: Buffer; readonly type: string },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `complete upload ${name}`,
    text: `with here as materialized (${here(condition)} and u.received = u.bytes ${locked}),
      stored as (
        insert into document_content (client_id, digest, bytes, type, upload_id)
        select client_id, $4::bytea, bytes, $5, id from here
        on conflict (client_id, digest) do update set created_at = record_time() where not document_content.used)
      update document_upload u set digest = $4::bytea, type = $5, touched_at = record_time()
      from here where u.id = here.id returning true as done`,
    values: [value, clientId, id, digest, type],
  }
}

const chunkColumns = `k.data, encode(k.object, 'hex') as object, o.place`

/** The chunk of an upload that begins at a byte. */
export function readChunk(
  scope: Scope,
  clientId: string,
  uploadId: string,
  start: number,
): PreparedStatement<ChunkRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `chunk ${name}`,
    text: `select ${chunkColumns} from client c join document_chunk k on k.client_id = c.id
        left join document_object o on o.digest = k.object
      where ${condition} and c.id = $2 and k.upload_id = $3 and k.start = $4::bigint`,
    values: [value, clientId, uploadId, start],
  }
}

/** The content of a document. */
export interface ContentRow {
  readonly consultant_id: string
  /** The name and the type of this version. */
  readonly name: string
  readonly type: string
  /** Null: the content is missing. */
  readonly bytes: number | null
  readonly upload_id: string | null
}

/** The content of a version of a document, default the current one. The document may be archived. */
export function readVersionContent(
  scope: Scope,
  clientId: string,
  id: string,
  version: number | undefined,
): PreparedStatement<ContentRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `content ${name}`,
    text: `select c.consultant_id, r.data ->> 'name' as name, r.data ->> 'type' as type, k.bytes::float8 as bytes, k.upload_id
      from client c join document n on n.client_id = c.id
        join revision r on r.noun_id = n.id and r.noun = 'document' and r.version = coalesce($4::int, n.version)
        left join document_content k on k.client_id = c.id and k.digest = (r.data ->> 'digest')::bytea
      where ${condition} and c.id = $2 and n.id = $3`,
    values: [value, clientId, id, version],
  }
}

/** A content of a client, by the hexadecimal digits of its digest; no row if the client is outside the scope. */
export function readContentOf(
  scope: Scope,
  clientId: string,
  digest: string,
): PreparedStatement<Pick<ContentRow, 'bytes' | 'upload_id'>> {
  const { condition, value, name } = within(scope)
  return {
    name: `content by digest ${name}`,
    text: `select k.bytes::float8 as bytes, k.upload_id from client c
        left join document_content k on k.client_id = c.id and k.digest = decode($3, 'hex')
      where ${condition} and c.id = $2`,
    values: [value, clientId, digest],
  }
}

/** A content as `verify` finds it. */
export interface VerifiedContent {
  readonly client_id: string
  readonly digest: Buffer
  readonly bytes: number
  readonly type: string
  readonly upload_id: string
}

/** The contents that follow `last`, in the order of their digests and clients; at most 200. */
export function readContentsAfter(tx: Queryable, last: VerifiedContent | undefined): Promise<VerifiedContent[]> {
  return tx.rows(
    `select client_id, digest, bytes::float8 as bytes, type, upload_id from document_content
     where $1::bytea is null or (digest, client_id) > ($1, $2::uuid) order by digest, client_id limit 200`,
    [last?.digest, last?.client_id],
  )
}

/** The chunk of a content that begins at a byte. */
export async function readStoredChunk(
  tx: Queryable,
  { client_id, upload_id }: Pick<VerifiedContent, 'client_id' | 'upload_id'>,
  start: number,
): Promise<ChunkRow | undefined> {
  const [row] = await tx.rows<ChunkRow>(
    `select ${chunkColumns} from document_chunk k left join document_object o on o.digest = k.object
     where k.client_id = $1 and k.upload_id = $2 and k.start = $3`,
    [client_id, upload_id, start],
  )
  return row
}

/** Whether a content is still there, not removed and uploaded again. */
export async function isStored(tx: Queryable, { client_id, digest, upload_id }: VerifiedContent): Promise<boolean> {
  const rows = await tx.rows('select from document_content where client_id = $1 and digest = $2 and upload_id = $3', [
    client_id,
    digest,
    upload_id,
  ])
  return rows.length > 0
}

/** Every version of a document whose content is missing, has another type or size, or lacks bytes. */
export const versionsWithoutContent = `
  select r.noun_id as document, r.version, r.client_id as client, case
      when k.digest is null then 'its content is missing'
      when (k.bytes::text, k.type) is distinct from (r.data ->> 'bytes', r.data ->> 'type') then 'its content has another type or size'
      else 'its content lacks bytes' end as fault
  from revision r
    left join document_content k on k.client_id = r.client_id and k.digest = (r.data ->> 'digest')::bytea
    left join lateral (select coalesce(sum(h.bytes), 0) as bytes from document_chunk h
      where h.client_id = k.client_id and h.upload_id = k.upload_id) chunks on true
  where r.noun = 'document' and r.data <> '{}'
    and (k.digest is null or not k.used or (k.bytes::text, k.type) is distinct from (r.data ->> 'bytes', r.data ->> 'type')
      or chunks.bytes <> k.bytes)`

/** How many uploads, and how many contents, one transaction removes at most. One statement deletes all their chunks and must end within its timeout. */
const removedAtOnce = 5

/** An upload of which no bytes are needed any more, unless a content has them. */
interface Swept {
  readonly client_id: string
  readonly id: string
}

/**
 * Removes some uploads that have not been continued for so long, and some contents that no document has had. Returns how many of both; 0 if
 * none are left but those that are in use at the moment.
 */
export function removeUnused(database: Database, since: string): Promise<number> {
  return proven(database, async (tx) => {
    const uploads = await tx.rows<Swept>(
      `delete from document_upload where id in (
         select id from document_upload where touched_at < clock_timestamp() - $1::interval
         order by touched_at limit ${removedAtOnce} for update skip locked)
       returning client_id, id`,
      [since],
    )
    const contents = await tx.rows<Swept>(
      `delete from document_content where (client_id, digest) in (
         select client_id, digest from document_content where not used and created_at < clock_timestamp() - $1::interval
         order by created_at limit ${removedAtOnce} for update skip locked)
       returning client_id, upload_id as id`,
      [since],
    )
    const swept = [...uploads, ...contents]
    if (swept.length > 0) {
      await tx.rows(
        `delete from document_chunk k using unnest($1::uuid[], $2::uuid[]) s (client_id, upload_id)
         where (k.client_id, k.upload_id) = (s.client_id, s.upload_id)
           and not exists (select from document_content c where (c.client_id, c.upload_id) = (k.client_id, k.upload_id))
           and not exists (select from document_upload u where u.id = k.upload_id)`,
        [swept.map(({ client_id }) => client_id), swept.map(({ id }) => id)],
      )
    }
    return swept.length
  })
}
