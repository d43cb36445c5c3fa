import type { Scope } from '../../../access/policy.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { PreparedStatement } from '../../../platform/database/pipeline.ts'
import { proven } from '../../../platform/database/proven-store.ts'
import type { FoundRow } from '../../search/store.ts'
import { within } from '../../statements-store.ts'
import type { ChunkRow } from '../storage/storage.ts'
import { readStoredChunk, type VerifiedContent } from '../store.ts'
import type { TextPage } from './readers.ts'

/** A content to read, and how often it was tried before. */
export interface ClaimedContent extends VerifiedContent {
  readonly tries: number
}

/** Claims the oldest content whose text is not read yet for five minutes; then any instance may claim it again. Undefined if there is none. */
export function claimContent(database: Database): Promise<ClaimedContent | undefined> {
  return proven(database, async (tx) => {
    const [row] = await tx.rows<ClaimedContent>(
      `with next as materialized (select client_id, digest from document_content
         where reading = 'waiting' and used and (claimed_until is null or claimed_until < clock_timestamp())
         order by created_at limit 1 for update skip locked)
       update document_content k set tries = k.tries + 1, claimed_until = clock_timestamp() + interval '5 minutes' from next
       where (k.client_id, k.digest) = (next.client_id, next.digest)
       returning k.client_id, k.digest, k.bytes::float8 as bytes, k.type, k.upload_id, k.tries - 1 as tries`,
    )
    return row
  })
}

/** The chunk of a claimed content that begins at a byte. */
export function readClaimedChunk(
  database: Database,
  content: ClaimedContent,
  start: number,
): Promise<ChunkRow | undefined> {
  return proven(database, (tx) => readStoredChunk(tx, content, start))
}

/** Gives up a claim as if the content had not been tried. Others are read first for the time `pause`. */
async function giveUp(
  database: Database,
  { client_id, digest, tries }: ClaimedContent,
  pause: string | null,
): Promise<void> {
  await proven(database, (tx) =>
    tx.rows(
      `update document_content set tries = $3, claimed_until = clock_timestamp() + $4::interval
       where client_id = $1 and digest = $2 and reading = 'waiting' and tries = $3 + 1`,
      [client_id, digest, tries, pause],
    ),
  )
}

/** Any instance may begin again at once. */
export const releaseContent = (database: Database, content: ClaimedContent): Promise<void> =>
  giveUp(database, content, null)

/** While its storage is away. */
export const postpone = (database: Database, content: ClaimedContent): Promise<void> =>
  giveUp(database, content, '10 seconds')

/**
 * Shortens the claim after a first failure, which may be chance. After a later one the claim stays, so that a failure of the machine does not
 * use up all tries within seconds.
 */
export async function retrySoon(database: Database, { client_id, digest }: ClaimedContent): Promise<void> {
  await proven(database, (tx) =>
    tx.rows(
      `update document_content set claimed_until = clock_timestamp() + interval '5 seconds'
       where client_id = $1 and digest = $2 and reading = 'waiting' and tries = 1`,
      [client_id, digest],
    ),
  )
}

/** Keeps the pages of a content, or why it has none. Does nothing if its client was erased meanwhile. */
export async function keepText(
  database: Database,
  { client_id, digest }: ClaimedContent,
  { reading, pages }: { readonly reading: string; readonly pages: readonly TextPage[] },
): Promise<void> {
  await proven(database, (tx) =>
    tx.rows(
      `with kept as (
         update document_content set reading = $3, claimed_until = null
         where client_id = $1 and digest = $2 and reading = 'waiting' returning client_id, digest)
       insert into document_text (client_id, digest, page, label, text)
       select kept.client_id, kept.digest, number, page ->> 'label', page ->> 'text'
       from kept, jsonb_array_elements($4::jsonb) with ordinality as p (page, number)`,
      [client_id, digest, reading, JSON.stringify(pages)],
    ),
  )
}

/** Documents whose text has all words of `q` on one page, with the first such page; those that changed last come first. */
export function searchTexts(scope: Scope, q: string, limit: number): PreparedStatement<FoundRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `search texts ${name}`,
    text: `select 'document' as noun, n.id, n.name as title, left(t.text, 20000) as text,
        json_build_object('id', c.id, 'name', c.name) as client, n.updated_at as changed_at, false as archived
      from matching_texts($2, $1::uuid, $3) best
        join document n on n.id = best.document_id join client c on c.id = n.client_id
        join document_text t on (t.client_id, t.digest, t.page) = (n.client_id, n.digest, best.page)
      where ${condition}
      order by n.updated_at desc, n.id desc`,
    values: [value, q, limit],
  }
}
