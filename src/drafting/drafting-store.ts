import type { Visit } from '../access/actor.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'

/** What a draft is written from. `title` is the day of the note, the invoice of the dispute, or the name of the document. */
export interface Source {
  readonly kind: 'note' | 'dispute' | 'document'
  readonly id: string
  readonly version: number
  readonly title: string
  /** The pages of a document that are read. Absent or null: all. */
  readonly pages?: number[] | null
}

/** A source as it was read, with all that goes into a prompt. */
export interface ReadSource extends Source {
  /** Null for a document without a text, and for all documents if they are too long together. */
  readonly text: string | null
  /** The characters of the text. Null: the document has no text, or none on these pages. Then nothing is drafted. */
  readonly length: number | null
  /** The chosen pages that the document does not have. If there are any, nothing is drafted. */
  readonly missing: readonly number[] | null
  /** Those who are not of the firm. */
  readonly participants: readonly string[]
  /** In 10⁻¹² of the currency unit, as text. */
  readonly amount: string | null
}

/** A document, and the pages of it, or all. */
export interface ChosenDocument {
  /** A UUID. */
  readonly id: string
  readonly pages?: readonly number[]
}

export interface DraftStart {
  readonly id: string
  readonly clientId: string
  readonly instructions: string
  /** UUIDs. */
  readonly notes: readonly string[]
  readonly disputes: readonly string[]
  readonly documents: readonly ChosenDocument[]
  /** The most characters of all documents together. */
  readonly mostCharacters: number
  readonly letter: string | undefined
  readonly model: string
  readonly subject: string | undefined
}

/** The client of a draft to start, and what was found in its record. */
export interface StartRow {
  readonly consultant_id: string
  readonly status: 'active' | 'archived'
  readonly client: string
  /** The name of the person. */
  readonly writer: string
  readonly sources: readonly ReadSource[] | null
  readonly letter: string | null
  /** Whether the documents are longer together than they may be. */
  readonly too_long: boolean
  readonly started: boolean
}

/**
 * Reads the sources and inserts the draft, in one statement, from the present items of this client alone. Inserts nothing
 * if the client is archived, any item or page is missing, the documents are too long, or the draft exists. No row: the client does not exist for the person.
 */
export function startDraft({ requestId, address }: Visit, draft: DraftStart): PreparedStatement<StartRow> {
  const { id, clientId, instructions, notes, disputes, documents, mostCharacters, letter, model, subject } = draft
  return {
    name: 'start draft',
    text: `with c as materialized (select id, consultant_id, status, name from client where id = $1 and deleted_at is null),
      asked as materialized (
        select place, (value ->> 'id')::uuid as id, case when value ? 'pages' then array(
          select page::int from jsonb_array_elements_text(value -> 'pages') page) end as pages
        from jsonb_array_elements($11::jsonb) with ordinality as a (value, place)),
      file as materialized (
        select a.place::int, a.pages, f.id, f.version, f.name, f.client_id, f.digest, (
            select nullif(sum(length(t.text)), 0)::float8 from document_text t
            where (t.client_id, t.digest) = (f.client_id, f.digest) and (a.pages is null or t.page = any (a.pages))) as length,
          case when exists (select from document_text t where (t.client_id, t.digest) = (f.client_id, f.digest)) then array(
            select number from unnest(a.pages) with ordinality as chosen (number, place) where not exists (
              select from document_text t where (t.client_id, t.digest, t.page) = (f.client_id, f.digest, number))
            order by chosen.place) end as missing
        from asked a, document f, c where f.client_id = c.id and f.archived_at is null and f.id = a.id),
      size as materialized (select coalesce(sum(length), 0) <= $12 as fits from file),
      source as materialized (
        select 1 as rank, array_position($3::uuid[], n.id) as place, 'note' as kind, n.id, n.version,
          n.date::text as title, n.text, array(select each from unnest(n.participants) with ordinality as p (each, number)
            where not exists (select from person where person.name = each) order by number) as participants,
          null::text as amount, null::int[] as pages, length(n.text)::float8 as length, null::int[] as missing,
          'Our meeting on ' || to_char(n.date, 'FMDD FMMonth YYYY') as subject
        from note n, c where n.client_id = c.id and n.archived_at is null and n.id = any ($3::uuid[])
        union all
        select 0, array_position($4::uuid[], d.id), 'dispute', d.id, d.version, d.invoice, d.position, '{}',
          d.amount::text, null, length(d.position), null, left('Invoice ' || d.invoice, 300)
        from dispute d, c where d.client_id = c.id and d.archived_at is null and d.id = any ($4::uuid[])
        union all
        select 2, f.place, 'document', f.id, f.version, f.name, case when size.fits then (
            select string_agg(concat_ws(E'\n', nullif(t.label, ''), t.text), E'\n\n' order by t.page) from document_text t
            where (t.client_id, t.digest) = (f.client_id, f.digest) and (f.pages is null or t.page = any (f.pages))) end, '{}',
          null, f.pages, f.length, f.missing, left(f.name, 300)
        from file f, size),
      old as materialized (
        select l.id, l.version, l.subject from letter l, c
        where l.client_id = c.id and l.archived_at is null and l.id = $5::uuid),
      changed as (
        insert into draft (id, client_id, instructions, sources, model, subject, rewrites, rewrites_version)
        select $2, c.id, $6,
          (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', kind, 'id', id, 'version', version, 'title', title,
             'pages', pages)) order by rank, place) from source),
          $7, coalesce($8, old.subject, (select subject from source order by rank, place limit 1)), old.id, old.version
        from c left join old on true
        where c.status = 'active' and ($5::uuid is null or old.id is not null)
          and (select count(length) from source) = cardinality($3::uuid[]) + cardinality($4::uuid[]) + (select count(*) from asked)
          and (select fits from size) and not exists (select from source where cardinality(missing) > 0)
        on conflict (id) do nothing returning id, client_id),
      noted as (
        insert into audit (action, outcome, client_id, noun, noun_id, request_id, address)
        select 'draft_started', 'allowed', client_id, 'draft', id, $9::text, $10::text from changed returning true)
      select c.consultant_id, c.status, c.name as client,
        (select name from person where id = portal_person()) as writer, (select json_agg(s order by rank, place) from source s) as sources,
        (select id from old) as letter, (select not fits from size) as too_long, exists (select from noted) as started
      from c`,
    values: [
      clientId,
      id,
      `{${notes.join(',')}}`,
      `{${disputes.join(',')}}`,
      letter,
      instructions,
      model,
      subject,
      requestId,
      address,
      JSON.stringify(documents),
      mostCharacters,
    ],
  }
}

/** A draft in PostgreSQL's JSON: times are strings. */
export interface DraftJson {
  readonly id: string
  readonly status: 'running' | 'complete' | 'stopped' | 'failed'
  readonly instructions: string
  readonly sources: readonly Source[]
  readonly subject: string
  readonly model: string
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cost: string | null
  readonly stop_reason: string | null
  readonly failure: string | null
  readonly letter_id: string | null
  readonly created_at: string
  readonly created_by: string
  readonly created_by_name: string | null
  readonly finished_at: string | null
}

/** The client of drafts; no row if it does not exist for the person. */
export interface DraftsRow {
  readonly consultant_id: string
  readonly drafts: readonly DraftJson[] | null
}

/** The drafts `d` of the client `c`. Tokens, cost and stop reason are those of the ledger. */
const draftRows = (condition: string, rest: string): string => `
  select d.id, d.status, d.instructions, d.sources, d.subject, coalesce(l.model, d.model) as model, l.input_tokens,
    l.output_tokens, l.cost::text as cost, l.stop_reason, d.failure, d.letter_id, d.created_at, d.created_by,
    (select person.name from person where person.id = d.created_by) as created_by_name, d.finished_at
  from draft d left join lateral (
    select model, input_tokens + cached_tokens + cache_write_tokens as input_tokens, output_tokens, cost, stop_reason
    from ledger where request_id = d.id limit 1) l on true
  where d.client_id = c.id and ${condition} ${rest}`

/** Every draft of a client, the oldest first. */
export function readAllDrafts(clientId: string): PreparedStatement<DraftsRow> {
  return {
    name: 'all drafts',
    text: `select c.consultant_id, (select json_agg(d) from (${draftRows('true', 'order by d.created_at, d.id')}) d) as drafts
      from client c where c.id = $1 and c.deleted_at is null`,
    values: [clientId],
  }
}

/** The newest 200 drafts of a client, or of one of its letters. */
export function readDrafts(clientId: string, letterId: string | undefined): PreparedStatement<DraftsRow> {
  const rows = draftRows('($2::uuid is null or d.letter_id = $2)', 'order by d.created_at desc, d.id desc limit 200')
  return {
    name: 'drafts',
    text: `select c.consultant_id, (select json_agg(d) from (${rows}) d) as drafts
      from client c where c.id = $1 and c.deleted_at is null`,
    values: [clientId, letterId],
  }
}

export function readDraft(clientId: string, id: string): PreparedStatement<DraftsRow> {
  return {
    name: 'draft',
    text: `select c.consultant_id, (select json_agg(d) from (${draftRows('d.id = $2', '')}) d) as drafts
      from client c where c.id = $1 and c.deleted_at is null`,
    values: [clientId, id],
  }
}

/** A source as it is now. */
export interface PresentSource extends ReadSource {
  /** Null: it is gone. */
  readonly present_version: number | null
}

/** What a letter is compared with; no row if the draft does not exist for the person. */
export interface CheckedDraftRow {
  readonly consultant_id: string
  readonly client: string
  readonly instructions: string
  readonly writer: string | null
  /** Null: the draft has no letter. */
  readonly letter_id: string | null
  readonly letter_version: number | null
  readonly body: string | null
  readonly sources: readonly PresentSource[]
}

/** The letter of a draft and the draft's sources, both as they are now. */
export function readCheckedDraft(
  clientId: string,
  id: string,
  mostCharacters: number,
): PreparedStatement<CheckedDraftRow> {
  return {
    name: 'checked draft',
    text: `select c.consultant_id, c.name as client, d.instructions, (select name from person where person.id = d.created_by) as writer,
        l.id as letter_id, l.version as letter_version, l.body,
        coalesce((select json_agg(to_json(s) order by s.place) from (
          select a.place, a.source ->> 'kind' as kind, a.source ->> 'id' as id, (a.source ->> 'version')::int as version,
            coalesce(n.date::text, i.invoice, f.name, a.source ->> 'title') as title, coalesce(n.text, i.position, t.text) as text,
            coalesce(length(coalesce(n.text, i.position)), t.length) as length, null as missing, i.amount::text as amount,
            coalesce(n.version, i.version, f.version) as present_version, a.source -> 'pages' as pages,
            array(select each from unnest(n.participants) each where not exists (select from person where person.name = each))
              as participants
          from jsonb_array_elements(d.sources) with ordinality as a (source, place)
            left join note n on a.source ->> 'kind' = 'note' and n.id = (a.source ->> 'id')::uuid and n.client_id = c.id
            left join dispute i on a.source ->> 'kind' = 'dispute' and i.id = (a.source ->> 'id')::uuid and i.client_id = c.id
            left join document f on a.source ->> 'kind' = 'document' and f.id = (a.source ->> 'id')::uuid and f.client_id = c.id
            left join lateral (
              select case when sum(length(each.text)) <= $3 then
                  string_agg(concat_ws(E'\n', nullif(each.label, ''), each.text), E'\n\n' order by each.page) end as text,
                sum(length(each.text))::float8 as length
              from document_text each where (each.client_id, each.digest) = (f.client_id, f.digest)
                and (a.source -> 'pages' is null or a.source -> 'pages' @> to_jsonb(each.page))) t on true) s), '[]') as sources
      from client c join draft d on d.client_id = c.id left join letter l on l.id = d.letter_id and l.client_id = c.id
      where c.id = $1 and d.id = $2 and c.deleted_at is null`,
    values: [clientId, id, mostCharacters],
  }
}

/** Records that a running draft is to be stopped. */
export function askToStop({ requestId, address }: Visit, clientId: string, id: string): PreparedStatement {
  return {
    name: 'stop draft',
    text: `with changed as (
        update draft set stop_asked_at = clock_timestamp()
        where id = $2 and client_id = $1 and status = 'running' and stop_asked_at is null returning id, client_id)
      insert into audit (action, outcome, client_id, noun, noun_id, request_id, address)
      select 'draft_stopped', 'allowed', client_id, 'draft', id, $3::text, $4::text from changed returning true as done`,
    values: [clientId, id, requestId, address],
  }
}

/** Whether a draft is to be stopped; no row if the person may no longer sign in or change its client. */
export function watchDraft(id: string): PreparedStatement<{ readonly stop: boolean }> {
  return {
    name: 'watch draft',
    text: `select d.stop_asked_at is not null as stop from draft d join client c on c.id = d.client_id
      where d.id = $1 and c.deleted_at is null and is_active(portal_person())`,
    values: [id],
  }
}

export type KeptDraft = 'kept' | 'ended' | 'uncharged' | 'no_text' | 'archived' | 'out_of_reach'

/** Puts the text of a charged draft on the record: see keep_draft(). */
export function keepDraft(
  { requestId, address }: Visit,
  id: string,
): PreparedStatement<{ readonly outcome: KeptDraft }> {
  return {
    name: 'keep draft',
    text: 'select keep_draft($1, $2, $3) as outcome',
    values: [id, requestId, address],
  }
}

export interface Ending {
  readonly id: string
  readonly clientId: string
  readonly status: 'stopped' | 'failed'
  /** Why it failed. */
  readonly failure?: string
}

/** Ends a draft that leaves no text on the record. Does nothing if it has ended. */
export function endDraft({ requestId, address }: Visit, ending: Ending): PreparedStatement {
  const { id, clientId, status, failure } = ending
  return {
    name: 'end draft',
    text: `insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
      select case when $3 = 'failed' then 'draft_failed' else 'draft_stopped' end, 'allowed', $2, 'draft', $1, $5, $6,
        case when $4::text is not null then jsonb_build_object('failure', $4::text) end
      where end_draft($1, $3, null, $4) returning true as done`,
    values: [id, clientId, status, failure, requestId, address],
  }
}

/** A draft that its instance no longer works on, or that is about to end. */
export interface OpenDraft {
  readonly id: string
  readonly client_id: string
  readonly person_id: string
  /** In which its author may put it on the record. That of a consultant also for a developer, who may not: the draft then fails. */
  readonly role: 'consultant' | 'partner'
  readonly charged: boolean
}

/**
 * The drafts that have not ended and have no hold: those that are charged, and those that were not within a minute, in
 * which a request is either held or refused.
 */
export function readOpenDrafts(database: Queryable, grace: { readonly ms: number }): Promise<OpenDraft[]> {
  return database.rows(
    `select d.id, d.client_id, p.id as person_id, case p.role when 'partner' then p.role else 'consultant' end as role, l.request_id is not null as charged
     from draft d join person p on p.id = d.created_by
       left join lateral (select request_id from ledger where request_id = d.id limit 1) l on true
     where (d.status = 'running' or d.failure = 'interrupted' and l.request_id is not null
         and d.created_at > clock_timestamp() - interval '1 day')
       and not exists (select from hold where hold.id = d.id)
       and d.created_at < clock_timestamp() - make_interval(secs =>
         case when l.request_id is null then 60 else $1::float8 / 1000 end)
     order by d.created_at limit 100`,
    [grace.ms],
  )
}
