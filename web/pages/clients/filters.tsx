import { Anchor, NativeSelect, SegmentedControl } from '@mantine/core'
import { Link } from 'react-router'
import { SearchField } from '../../components/search-field.tsx'
import { usePeople } from '../../components/people-names.ts'
import { PersonChoice } from '../../components/person-choice.tsx'
import { useRole } from '../../components/role.ts'
import classes from './filters.module.css'
import { useQuery } from './query.ts'

const statuses = [
  { value: 'active', label: 'Active' },
  { value: 'archived', label: 'Archived' },
  { value: 'all', label: 'All' },
]
/** Only partners see deleted clients. */
const partnersStatuses = [...statuses, { value: 'deleted', label: 'Deleted' }]
const sorts = [
  { value: 'name', label: 'Name' },
  { value: '-changed_at', label: 'Last changed' },
  { value: 'reference', label: 'Reference' },
]

export function Filters() {
  const { get, set } = useQuery()
  const isPartner = useRole() === 'partner'
  const isSearch = get('q') !== ''
  return (
    <search className={classes.filters}>
      <SearchField
        className={classes.search}
        label="Search clients"
        placeholder="Name, reference or email"
        value={get('q')}
        onSearch={(q) => set({ q })}
        onDown={focusFirst}
      />
      <SegmentedControl
        className={classes.status}
        aria-label="Status"
        size="xs"
        data={isPartner ? partnersStatuses : statuses}
        value={get('status')}
        onChange={(status) => set({ status })}
      />
      {isPartner && get('status') !== 'active' && (
        <Anchor component={Link} to="/erasures" size="sm">
          Erasures
        </Anchor>
      )}
      {isPartner && <Consultants value={get('consultant')} onChange={(consultant) => set({ consultant })} />}
      <NativeSelect
        className={classes.sort}
        aria-label="Sort by"
        data={isSearch ? [{ value: '', label: 'Best match' }, ...sorts] : sorts}
        value={get('sort') || (isSearch ? '' : 'name')}
        onChange={({ currentTarget }) => set({ sort: currentTarget.value })}
      />
    </search>
  )
}

function Consultants({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  const people = usePeople()
  return (
    <PersonChoice
      className={classes.consultant}
      aria-label="Consultant"
      none="All consultants"
      people={people}
      value={value}
      onChange={onChange}
    />
  )
}

function focusFirst() {
  document.querySelector<HTMLElement>('[data-row]')?.focus()
}
