import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { PersonActor, Role } from '../actor.ts'

const personContext = {
  consultant: `select set_config('role', portal_role('consultant'), true), set_config('tollgate.person', $1, true)`,
  partner: `select set_config('role', portal_role(case when partner then 'partner' else 'consultant' end), true),
      set_config('tollgate.person', case when partner then $1 else '' end, true)
    from is_partner($1::text::uuid) as partner`,
} satisfies Record<Role, string>

/**
 * Sets the role and the person until the end of the transaction. A former partner gets a consultant's role and no person
 * id, so row-level security shows no rows.
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
