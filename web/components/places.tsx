import {
  IconAddressBook,
  IconBuildingBank,
  IconChartBar,
  IconCpu,
  IconFileInvoice,
  IconHistory,
  IconHome,
  IconSearch,
  IconTemplate,
  IconUsers,
  type Icon,
} from '@tabler/icons-react'
import { NavLink } from 'react-router'
import { content, type Viewer } from '../content.ts'
import classes from './navigation.module.css'

/** A page of the main navigation. */
export interface Place {
  readonly to: string
  readonly name: string
  readonly icon: Icon
}

const templates: Place = { to: '/templates', name: 'Templates', icon: IconTemplate }

const forClients = (): readonly Place[] => [
  { to: '/', name: 'Overview', icon: IconHome },
  { to: '/clients', name: 'Clients', icon: IconAddressBook },
  { to: '/search', name: 'Search', icon: IconSearch },
  // Useful only where letters are drafted.
  ...(content.settings?.drafting ? [templates] : []),
]
const accounts: Place = { to: '/accounts', name: 'Accounts', icon: IconBuildingBank }
const partners: readonly Place[] = [
  accounts,
  { to: '/usage', name: 'Usage', icon: IconChartBar },
  { to: '/invoices', name: 'Invoices', icon: IconFileInvoice },
  { to: '/models', name: 'Models', icon: IconCpu },
  { to: '/people', name: 'People', icon: IconUsers },
  { to: '/audit', name: 'Audit log', icon: IconHistory },
]

type Role = Viewer['person']['role'] | undefined

/** The pages that a role may open. */
export const placesOf = (role: Role): readonly Place[] =>
  role === 'partner' ? [...forClients(), ...partners] : ownPlaces(role)

const ownPlaces = (role: Role): readonly Place[] => (role === 'developer' ? [accounts] : forClients())

/** The same, as links in two groups. */
export function Places({ role }: { readonly role: Role }) {
  return (
    <>
      <PlaceList places={ownPlaces(role)} />
      {role === 'partner' && (
        <>
          <h2 className={classes.heading}>Firm</h2>
          <PlaceList places={partners} />
        </>
      )}
    </>
  )
}

function PlaceList({ places }: { readonly places: readonly Place[] }) {
  return (
    <ul>
      {places.map(({ to, name, icon: PlaceIcon }) => (
        <li key={to}>
          <NavLink to={to} end={to === '/'} className={classes['place'] ?? ''}>
            <PlaceIcon size={17} stroke={1.75} aria-hidden />
            {name}
          </NavLink>
        </li>
      ))}
    </ul>
  )
}
