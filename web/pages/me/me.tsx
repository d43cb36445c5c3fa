import { SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core'
import { useState } from 'react'
import { areKeysOn, turnKeys } from '../../components/keys.ts'
import { areOffersOn, turnOffers } from '../../components/timer/recorded.ts'
import { Page } from '../../components/page.tsx'
import { schemeOf } from '../../settings.ts'
import { roleNames } from '../../words.ts'
import { Calendar } from './calendar.tsx'
import { Factors } from './factors.tsx'
import classes from './me.module.css'
import { Methods } from './methods.tsx'
import { Sessions } from './sessions.tsx'
import { SignIns } from './sign-ins.tsx'
import { TaskMail } from './task-mail.tsx'
import { useAccount } from './use-own-change.ts'

/** The person's account, how they sign in, their sessions, and the settings of this browser. */
export function MePage() {
  const { person } = useAccount().me
  return (
    <Page title="Your account" heading={<h1>{person.name}</h1>} aside={roleNames[person.role]}>
      <section className={classes.section}>
        <h2>Account</h2>
        <dl className={classes.facts}>
          <dt>Email</dt>
          <dd>{person.email ?? 'None'}</dd>
          <dt>Role</dt>
          <dd>{roleNames[person.role]}</dd>
        </dl>
      </section>
      <Methods />
      <Factors />
      <Calendar />
      <Sessions />
      <SignIns />
      <TaskMail />
      <Appearance />
    </Page>
  )
}

const schemes = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
]

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [keys, setKeys] = useState(areKeysOn)
  const [offers, setOffers] = useState(areOffersOn)
  const { person } = useAccount().me
  return (
    <section className={classes.section}>
      <h2>This browser</h2>
      <div className={classes.settings}>
        <SegmentedControl
          aria-label="Theme"
          size="xs"
          data={schemes}
          value={colorScheme}
          onChange={(value) => setColorScheme(schemeOf(value) ?? 'auto')}
        />
        <Switch
          size="sm"
          label="Keyboard shortcuts: / to search, j and k to move in lists, n for a new entry"
          checked={keys}
          onChange={({ currentTarget }) => {
            turnKeys(currentTarget.checked)
            setKeys(currentTarget.checked)
          }}
        />
        {person.role !== 'developer' && (
          <Switch
            size="sm"
            label="Offer to record ten minutes when a note or a letter is saved"
            checked={offers}
            onChange={({ currentTarget }) => {
              turnOffers(currentTarget.checked)
              setOffers(currentTarget.checked)
            }}
          />
        )}
      </div>
    </section>
  )
}
