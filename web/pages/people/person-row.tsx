import { Badge, NativeSelect } from '@mantine/core'
import { Initials } from '../../components/initials.tsx'
import tables from '../../components/table.module.css'
import { Ago } from '../../components/time.tsx'
import type { ListedPerson } from '../../../src/people/schema.ts'
import { counted, roleNames } from '../../words.ts'
import type { Opened } from './dialogs.tsx'
import classes from './people.module.css'
import { PersonMenu } from './person-menu.tsx'
import { usePersonActions } from './person-actions.ts'

const roles = ['consultant', 'partner', 'developer'] as const

interface PersonRowProps {
  readonly person: ListedPerson
  readonly open: (dialog: Opened) => void
}

export function PersonRow({ person, open }: PersonRowProps) {
  const { name, email, role, status, clients, accounts, last_signed_in_at: signedIn } = person
  const actions = usePersonActions(person)
  return (
    <tr className={classes.row}>
      <td>
        <span className={classes.person}>
          <Initials name={name} />
          <span className={classes.who}>
            <span className={classes.name}>
              {name}
              {status === 'disabled' && <Badge color="gray">Disabled</Badge>}
            </span>
            <span className={classes.email}>{email}</span>
          </span>
        </span>
      </td>
      <td className={classes.roleCell}>
        <NativeSelect
          size="xs"
          className={classes.role}
          aria-label={`Role of ${name}`}
          data={Object.entries(roleNames).map(([value, label]) => ({ value, label }))}
          value={role}
          onChange={({ currentTarget: { value } }) =>
            void actions.setRole(roles.find((each) => each === value) ?? 'consultant')
          }
        />
      </td>
      <td className={tables.wide}>{role === 'developer' ? counted(accounts.length, 'account') : clients}</td>
      <td className={tables.wide}>{signedIn === null ? 'Never' : <Ago time={signedIn} />}</td>
      <td className={tables.actions}>
        <PersonMenu person={person} actions={actions} open={open} />
      </td>
    </tr>
  )
}
