import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconLogout, IconMoon, IconSelector, IconSun, IconUserCircle } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import type { Viewer } from '../content.ts'
import { schemeOf } from '../settings.ts'
import { roleNames } from '../words.ts'
import { Initials } from './initials.tsx'
import classes from './navigation.module.css'
import { Places } from './places.tsx'
import { useRole } from './role.ts'
import { signOut } from './sign-out.ts'
import { RunningTimer } from './timer/running-timer.tsx'

export function Navigation({ viewer }: { readonly viewer: Viewer }) {
  return (
    <nav className={classes.navigation} aria-label="Main">
      <Places role={useRole()} />
      <div className={classes.space} />
      <RunningTimer />
      <PersonMenu viewer={viewer} />
    </nav>
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
