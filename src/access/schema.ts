import { Type } from 'typebox'

/** The wire shapes of the audit log. */

const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const nothing = Type.Null()
const id = Type.String({ format: 'uuid' })

const actorKind = Type.Enum(['person', 'command', 'key', 'service', 'visitor'], {
  description: 'A person, the command line, an API key, Tollgate itself, or a visitor who is not signed in.',
})

/** A row of the audit log, for partners. */
export const auditRow = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time', description: 'A date and time in UTC.' }),
  action: Type.String({ description: '`client_read`, `sign_in`, `access_denied`, …' }),
  outcome: Type.Enum(['allowed', 'refused']),
  actor: Type.Object(
    {
      kind: actorKind,
      id: Type.Union([Type.String(), nothing], { description: 'The id of a person or an API key.' }),
      name: Type.Union([Type.String(), nothing], {
        description: 'The name of a person, or of the operating-system user who ran the command.',
      }),
    },
    { description: 'Who performed the action.' },
  ),
  person: Type.Union([Type.Object({ id, name: Type.Union([Type.String(), nothing]) }), nothing], {
    description: 'The actor, if it is a person.',
  }),
  client: Type.Union([Type.Object({ id, name: Type.Union([Type.String(), nothing]) }), nothing], {
    description: 'The client record concerned. Its name is null if no such record exists.',
  }),
  noun: Type.Union([Type.String(), nothing]),
  noun_id: Type.Union([Type.String(), nothing]),
  request_id: Type.Union([Type.String(), nothing]),
  address: Type.Union([Type.String(), nothing]),
  details: Type.Record(Type.String(), Type.String()),
})
export type AuditRow = Type.Static<typeof auditRow>

export const auditQuery = Type.Object(
  {
    cursor: Type.Optional(Type.String({ format: 'row-number', description: '`next` of the previous page.' })),
    limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; default 50.' })),
    action: Type.Optional(text(64, 'One action.')),
    outcome: Type.Optional(Type.Enum(['allowed', 'refused'])),
    actor: Type.Optional(actorKind),
    person: Type.Optional(text(36, 'The id of a person.')),
    client: Type.Optional(text(36, 'The id of a client.')),
    from: Type.Optional(text(30, 'Not before this time: `2026-03-12`, or a date and time in UTC.')),
    to: Type.Optional(text(30, 'Before this time.')),
    views: Type.Optional(
      Type.Enum(['true', 'false'], {
        description:
          '`false` omits events that record only that something was viewed: actions that end in `_read`, `_listed` or `_searched`. By default JSON and CSV have them; the page has them only with `action`.',
      }),
    ),
    format: Type.Optional(Type.Enum(['json', 'csv'], { description: '`csv`: all rows as a file.' })),
  },
  { additionalProperties: false },
)
export type AuditQuery = Type.Static<typeof auditQuery>

export const auditProof = Type.Object({
  ok: Type.Boolean({ description: 'Whether every check passed.' }),
  rows: Type.Integer({ description: 'The number of sealed rows. Rows are sealed seconds after they are written.' }),
  last_seal: Type.Union([Type.String(), nothing], {
    description: 'The last seal, to compare with the log line. Null if no row is sealed yet.',
  }),
  checks: Type.Array(
    Type.Object({
      name: Type.String({ description: 'What is true if the check passes.' }),
      ok: Type.Boolean(),
      read: Type.Union([Type.String(), nothing], {
        description: 'The part of the sealed rows that was read; null: all.',
      }),
      faults: Type.Array(Type.String(), { description: 'The rows or seals at fault, at most ten.' }),
    }),
  ),
})
export type AuditProof = Type.Static<typeof auditProof>

export const auditList = Type.Object({
  audit: Type.Array(auditRow),
  next: Type.Union([Type.String(), nothing], {
    description: 'The `cursor` of the next page, even if this page has few rows or none; null on the last.',
  }),
})
export type AuditList = Type.Static<typeof auditList>
