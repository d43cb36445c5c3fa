import { violates } from '../platform/database/failure.ts'
import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { roleOf } from '../access/policy.ts'
import { newId } from '../access/new-id.ts'
import { basisText, type Basis } from '../platform/http/versions.ts'
import { Problem } from '../platform/problems.ts'
import type { NewTemplate, Template, TemplateChange, TemplateRevision } from './schema.ts'
import * as store from './templates-store.ts'

/**
 * Instructions that the firm saves, with a default for each kind of letter. Everyone reads them, partners change them. Every
 * change is in the audit log. Throws Problem `not_found`, `stale_version`, `forbidden`, and `conflict` for a name in use.
 */
export interface Templates {
  list(visit: Visit): Promise<Template[]>
  /** Idempotent per person and `key`. */
  create(visit: Visit, body: NewTemplate, key?: string): Promise<Template>
  change(visit: Visit, id: string, change: { basis: Basis; body: TemplateChange }): Promise<Template>
  remove(visit: Visit, id: string, basis: Basis): Promise<void>
  /** The newest 200, also of a removed template. */
  revisions(visit: Visit, id: string): Promise<TemplateRevision[]>
}

export function createTemplates({ access }: { access: RecordAccess }): Templates {
  async function requirePartner(visit: Visit, audited: AuditedAction): Promise<void> {
    if (roleOf(visit.actor) !== 'partner') {
      await access.forbid(visit, audited, 'Only partners may change the templates.')
    }
  }

  async function find(visit: Visit, audited: AuditedAction, id: string): Promise<Template> {
    const [[row]] = await access.as(visit, [store.readTemplate(id)])
    return row ? present(row) : access.decline(visit, audited, notFound())
  }

  const nameInUse = (visit: Visit, audited: AuditedAction) => async (error: unknown) => {
    if (violates(error, 'letter_template_name')) return access.decline(visit, audited, nameTaken())
    // Another partner chose another default at the same moment.
    if (violates(error, 'letter_template_default')) return access.decline(visit, audited, defaultTaken())
    throw error
  }

  return Object.freeze<Templates>({
    async list(visit) {
      const [rows] = await access.as(visit, [store.readTemplates()])
      return rows.map(present)
    },

    async create(visit: Visit, body: NewTemplate, key?: string) {
      const id = newId(visit, 'templates', key)
      const done = audited('template_created', id)
      await requirePartner(visit, done)
      const [, , [row]] = await access
        .as(visit, [
          store.clearDefault(visit, body.kind, body.is_default === true, id),
          store.insertTemplate(visit, id, body),
          store.readTemplate(id),
        ])
        .catch(nameInUse(visit, done))
      return row ? present(row) : access.decline(visit, done, notFound())
    },

    async change(visit, id, { basis, body }) {
      const done = audited('template_changed', id)
      await requirePartner(visit, done)
      const before = await find(visit, done, id)
      if (basis && !basis.includes(before.version)) return access.decline(visit, done, stale(before))
      const kind = body.kind ?? before.kind
      const isDefault = body.is_default ?? before.is_default
      const [, [changed], [row]] = await access
        .as(visit, [
          store.clearDefault(visit, kind, isDefault, id),
          store.updateTemplate(visit, id, basisText(basis), body),
          store.readTemplate(id),
        ])
        .catch(nameInUse(visit, done))
      if (!row) return access.decline(visit, done, notFound())
      return changed ? present(row) : access.decline(visit, done, stale(present(row)))
    },

    async remove(visit, id, basis) {
      const done = audited('template_removed', id)
      await requirePartner(visit, done)
      const before = await find(visit, done, id)
      const [[removed]] = await access.as(visit, [store.removeTemplate(visit, id, basisText(basis))])
      if (!removed) await access.decline(visit, done, stale(before))
    },

    async revisions(visit, id) {
      const [rows] = await access.as(visit, [store.readTemplateRevisions(id)])
      if (rows.length === 0) return access.decline(visit, audited('template_read', id), notFound())
      return rows.map(({ at, data, ...rest }) => ({ ...rest, at: at.toISOString(), data: { ...data } }))
    },
  })
}

const audited = (action: string, nounId: string): AuditedAction => ({ action, noun: 'template', nounId })

const present = (row: store.TemplateRow): Template => ({ ...row, updated_at: row.updated_at.toISOString() })

const notFound = (): Problem => new Problem('not_found', 'No template exists at this URL.')

function stale(current: Template): Problem {
  return new Problem(
    'stale_version',
    'This has changed since you read it. Compare your change with the current version, then send it again.',
    { current },
  )
}

function nameTaken(): Problem {
  return new Problem('conflict', 'Another template of this kind has this name: choose a different name.', {
    field: 'name',
  })
}

function defaultTaken(): Problem {
  return new Problem('conflict', 'Another default was chosen at the same moment. Try again.', { field: 'is_default' })
}
