import type { Visit } from '../access/actor.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { NewTemplate, TemplateChange } from './schema.ts'

export interface PersonName {
  readonly id: string
  readonly name: string
}

export interface TemplateRow {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly instructions: string
  readonly is_default: boolean
  readonly version: number
  readonly updated_at: Date
  readonly updated_by: PersonName | null
}

const personOf = (column: string): string =>
  `(select json_build_object('id', p.id, 'name', p.name) from person p where p.id = ${column})`

const selectTemplate = `
  select t.id, t.kind, t.name, t.instructions, t.is_default, t.version, t.updated_at,
    ${personOf('t.updated_by')} as updated_by
  from letter_template t where t.removed_at is null`

export function readTemplates(): PreparedStatement<TemplateRow> {
  return { name: 'templates', text: `${selectTemplate} order by lower(t.kind), t.is_default desc, lower(t.name), t.id` }
}

export function readTemplate(id: string): PreparedStatement<TemplateRow> {
  return { name: 'template', text: `${selectTemplate} and t.id = $1`, values: [id] }
}

/** Inserts an audit event for the row of `changed`. */
const noted = (action: string, from: number): string => `
  insert into audit (action, outcome, noun, noun_id, request_id, address, details)
  select '${action}', 'allowed', 'template', changed.id, $${from}::text, $${from + 1}::text,
    jsonb_build_object('name', changed.name, 'version', changed.version::text) from changed returning true as done`

const touched = 'version = t.version + 1, updated_at = record_time(), updated_by = portal_person()'

/** Takes the default from the other templates of a kind, if `isDefault`. Run it before the template becomes the default. */
export function clearDefault(visit: Visit, kind: string, isDefault: boolean, exceptId: string): PreparedStatement {
  return {
    name: 'clear default template',
    text: `with changed as (
        update letter_template t set is_default = false, ${touched}
        where $2::boolean and t.is_default and t.removed_at is null and lower(t.kind) = lower($1) and t.id <> $3
        returning t.id, t.name, t.version)
      ${noted('template_changed', 4)}`,
    values: [kind, isDefault, exceptId, visit.requestId, visit.address],
  }
}

/** Inserts nothing if the id exists. */
export function insertTemplate(visit: Visit, id: string, body: NewTemplate): PreparedStatement {
  return {
    name: 'insert template',
    text: `with changed as (
        insert into letter_template (id, kind, name, instructions, is_default) values ($1, $2, $3, $4, $5)
        on conflict (id) do nothing returning id, name, version)
      ${noted('template_created', 6)}`,
    values: [id, body.kind, body.name, body.instructions, body.is_default ?? false, visit.requestId, visit.address],
  }
}

/** Returns a row if the template has one of the versions. Absent fields keep their values. */
export function updateTemplate(
  visit: Visit,
  id: string,
  versions: string | null,
  change: TemplateChange,
): PreparedStatement {
  return {
    name: 'update template',
    text: `with changed as (
        update letter_template t set kind = coalesce($3, t.kind), name = coalesce($4, t.name),
          instructions = coalesce($5, t.instructions), is_default = coalesce($6, t.is_default), ${touched}
        where t.id = $1 and t.removed_at is null and ($2::int[] is null or t.version = any ($2::int[]))
        returning t.id, t.name, t.version)
      ${noted('template_changed', 7)}`,
    values: [
      id,
      versions,
      change.kind,
      change.name,
      change.instructions,
      change.is_default,
      visit.requestId,
      visit.address,
    ],
  }
}

/** Its revisions remain. */
export function removeTemplate(visit: Visit, id: string, versions: string | null): PreparedStatement {
  return {
    name: 'remove template',
    text: `with changed as (
        update letter_template t set removed_at = record_time(), is_default = false, ${touched}
        where t.id = $1 and t.removed_at is null and ($2::int[] is null or t.version = any ($2::int[]))
        returning t.id, t.name, t.version)
      ${noted('template_removed', 3)}`,
    values: [id, versions, visit.requestId, visit.address],
  }
}

export interface TemplateRevisionRow {
  readonly version: number
  readonly at: Date
  readonly by: PersonName | null
  readonly removed: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/** The newest first; also of a template that was removed. */
export function readTemplateRevisions(id: string): PreparedStatement<TemplateRevisionRow> {
  return {
    name: 'template revisions',
    text: `select r.version, r.at, ${personOf('r.person_id')} as by, r.removed, r.data
      from letter_template_revision r where r.template_id = $1 order by r.version desc limit 200`,
    values: [id],
  }
}
