import type { Client } from 'pg'
import { run } from '../../platform/database/connection.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { PersonActor, Role } from '../actor.ts'

/** The portal's login: the database user that reads and changes client records. */
export interface Login {
  readonly user: string
  /** The user who owns the schema, as whom this was read. */
  readonly owner: string
  /** Whether it can already log in. */
  readonly inUse: boolean
  /** The statements that permit it to use this database. */
  readonly grants: string
  /** Whether the owner may run these statements. */
  readonly grantable: boolean
  /** Whether the owner may set its password. */
  readonly settable: boolean
  /** Whether it may create temporary tables. */
  readonly temporary: boolean
  /** Other databases on the server whose records it can access. */
  readonly elsewhere: readonly string[]
}

export async function readLogin(owner: Client): Promise<Login> {
  const [login] = await run<Login>(
    owner,
    `select portal_role('portal') as user, current_user::text as owner, coalesce((select rolcanlogin from pg_roles where rolname = portal_role('portal')), false) as "inUse",
       format('grant connect on database %1$I to %2$I; grant usage on schema public to %2$I', current_database(), portal_role('portal')) as grants,
       (select pg_has_role(current_user, d.datdba, 'member') and pg_has_role(current_user, n.nspowner, 'member')
         from pg_database d, pg_namespace n where d.datname = current_database() and n.nspname = 'public') as grantable,
       (select r.rolsuper or (r.rolcreaterole and (current_setting('server_version_num')::integer < 160000
           or pg_has_role(current_user, portal_role('portal')::name, 'member with admin option')))
         from pg_roles r where r.rolname = current_user) as settable,
       has_database_privilege(portal_role('portal'), current_database(), 'temporary') as temporary,
       array(select distinct d.datname::text from pg_shdepend s join pg_database d on d.oid = s.dbid
         where s.refclassid = 'pg_authid'::regclass and d.datname <> current_database()
           and s.refobjid = (select oid from pg_roles where rolname = portal_role('partner'))) as elsewhere`,
  )
  if (login === undefined) throw new Error('the database returned no portal login')
  return login
}

/** The statement that forbids temporary tables in this database. */
export async function readTemporaryRevocation(owner: Client): Promise<string> {
  const [statement] = await run<{ text: string }>(
    owner,
    `select format('revoke temporary on database %I from public', current_database()) as text`,
  )
  if (statement === undefined) throw new Error('the database returned no statement')
  return statement.text
}

/** The statement that lets the user log in, with a SCRAM verifier of its password if it has one. */
export function loginStatement(user: string, verifier: string | undefined): string {
  return `alter role ${user} login noinherit${verifier === undefined ? '' : ` password '${verifier}'`}`
}

/** Fails if the user may not use the schema. */
export async function callFunction(client: Client): Promise<void> {
  await run(client, `select portal_role('portal')`)
}

const personContext = {
  consultant: `select set_config('role', portal_role('consultant'), true), set_config('tollgate.person', $1, true)`,
  partner: `select set_config('role', portal_role(case when partner then 'partner' else 'consultant' end), true),
      set_config('tollgate.person', case when partner then $1 else '' end, true)
    from is_partner($1::text::uuid) as partner`,
  developer: `select set_config('role', portal_role('developer'), true), set_config('tollgate.person', $1, true)`,
} satisfies Record<Role, string>

/**
 * Sets the role and the person until the end of the transaction. A former partner gets a consultant's role and no person
 * id, so row-level security shows no rows. For developers, `granted_accounts()` asks for the role that they have in each statement.
 */
export function setPerson({ role, id }: PersonActor): PreparedStatement {
  return { name: `context ${role}`, text: personContext[role], values: [id] }
}

/** Sets the role, and an actor that is not a person, until the end of the transaction. */
export function setActor(role: Role, kind: string, name: string): PreparedStatement {
  return {
    name: 'context firm',
    text: `select set_config('role', portal_role($1), true), set_config('tollgate.person', '', true),
      set_config('tollgate.actor', $2, true), set_config('tollgate.actor_name', $3, true)`,
    values: [role, kind, name],
  }
}
