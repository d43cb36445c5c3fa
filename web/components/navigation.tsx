import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import {
  IconAddressBook,
  IconBuildingBank,
  IconChartBar,
  IconCpu,
  IconDeviceDesktop,
  IconFileInvoice,
  IconHistory,
  IconHome,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSelector,
  IconSun,
  IconTemplate,
  IconUserCircle,
  IconUsers,
  type Icon,
} from '@tabler/icons-react'
import { NavLink, useNavigate } from 'react-router'
import { content, type Viewer } from '../content.ts'
import type { SessionState } from '../session.ts'
import { schemeOf } from '../settings.ts'
import { roleNames } from '../words.ts'
import { Initials } from './initials.tsx'
import classes from './navigation.module.css'
import { useRole } from './role.ts'
import { signOut } from './sign-out.ts'

/** A page of the main navigation. */
export interface Place {
  readonly to: string
  readonly name: string
  readonly icon: Icon
}

const everyone: readonly Place[] = [
  { to: '/', name: 'Overview', icon: IconHome },
  { to: '/clients', name: 'Clients', icon: IconAddressBook },
  { to: '/search', name: 'Search', icon: IconSearch },
  // Templates are of use only where letters are drafted.
  ...(content.settings?.drafting ? [{ to: '/templates', name: 'Templates', icon: IconTemplate }] : []),
]
const partners: readonly Place[] = [
  { to: '/accounts', name: 'Accounts', icon: IconBuildingBank },
  { to: '/usage', name: 'Usage', icon: IconChartBar },
  { to: '/invoices', name: 'Invoices', icon: IconFileInvoice },
  { to: '/models', name: 'Models', icon: IconCpu },
  { to: '/people', name: 'People', icon: IconUsers },
  { to: '/audit', name: 'Audit log', icon: IconHistory },
]

/** The pages that a role may open. */
export const placesOf = (role: SessionState['role']): readonly Place[] =>
  role === 'partner' ? [...everyone, ...partners] : everyone

export function Navigation({ viewer }: { readonly viewer: Viewer }) {
  const isPartner = useRole() === 'partner'
  return (
    <nav className={classes.navigation} aria-label="Main">
      <Places places={everyone} />
      {isPartner && (
        <>
          <h2 className={classes.heading}>Firm</h2>
          <Places places={partners} />
        </>
      )}
      <div className={classes.space} />
      <PersonMenu viewer={viewer} />
    </nav>
  )
}

function Places({ places }: { readonly places: readonly Place[] }) {
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

function PersonMenu({ viewer: { person } }: { readonly viewer: Viewer }) {
  const navigate = useNavigate()
  const role = useRole() ?? person.role
  return (
    <Menu position="top-start" width={232} shadow="md">
      <Menu.Target>
        <UnstyledButton className={classes.person}>
          <Initials name={person.name} />
          <span className={classes.who}>
            <span className={classes.name}>{person.name}</span>
            <span className={classes.role}>{roleNames[role]}</span>
          </span>
          <IconSelector size={15} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconUserCircle size={16} />} onClick={() => void navigate('/me')}>
          Your account
        </Menu.Item>
        <Menu.Divider />
        <Schemes />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const schemes = [
  { value: 'light', name: 'Light', icon: IconSun },
  { value: 'dark', name: 'Dark', icon: IconMoon },
  { value: 'auto', name: 'System', icon: IconDeviceDesktop },
] as const

function Schemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu.RadioGroup value={colorScheme} onChange={setScheme}>
      {schemes.map(({ value, name, icon: SchemeIcon }) => (
        <Menu.RadioItem key={value} value={value} rightSection={<SchemeIcon size={16} aria-hidden />}>
          {name}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )

  function setScheme(chosen: unknown) {
    setColorScheme(schemeOf(chosen) ?? 'auto')
  }
}
