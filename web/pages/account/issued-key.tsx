import { Button, CopyButton, Group, NativeSelect } from '@mantine/core'
import { useEffect, useRef, useState, type Ref } from 'react'
import type { KeyIssued, KeyList } from '../../../src/accounts/schema.ts'
import classes from './account.module.css'
import { samples } from './samples.ts'

interface IssuedKeyProps {
  readonly issued: KeyIssued
  readonly models: KeyList['models']
  readonly baseUrl: string
  readonly onClose: () => void
}

/** A new key, shown once, with a first call to copy. The dialog closes when the person confirms that the key is stored. */
export function IssuedKey({ issued, models, baseUrl, onClose }: IssuedKeyProps) {
  const first = useRef<HTMLButtonElement>(null)
  // The dialog was open with a form before, so it does not move the focus itself.
  useEffect(() => first.current?.focus(), [])
  const [isStored, setStored] = useState(false)
  const [chosen, choose] = useState(samples[0]?.name)
  const model = issued.allowed_models?.[0] ?? models[0]?.name ?? 'model'
  const sample = samples.find(({ name }) => name === chosen)?.text({ baseUrl, key: issued.key, model }) ?? ''
  return (
    <div className={classes.form}>
      <p>
        This is the key {issued.name}. It is shown only now and stored nowhere: put it where your backend reads its
        secrets, never into a browser.
      </p>
      <code className={classes.secret} aria-label="Key">
        {issued.key}
      </code>
      <Group gap="xs">
        <Copy text={issued.key} label="Copy key" button={first} />
      </Group>
      <NativeSelect
        label="A first call"
        data={samples.map(({ name }) => name)}
        value={chosen}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a box that scrolls must be reachable by keyboard */}
      <pre className={classes.sample} tabIndex={0} aria-label="A first call">
        {sample}
      </pre>
      <Group gap="xs">
        <Copy text={sample} label="Copy call" />
      </Group>
      <label className={classes.check}>
        <input type="checkbox" checked={isStored} onChange={({ currentTarget }) => setStored(currentTarget.checked)} />I
        have stored this key
      </label>
      <Group justify="flex-end">
        <Button disabled={!isStored} onClick={onClose}>
          Done
        </Button>
      </Group>
    </div>
  )
}

interface CopyProps {
  readonly text: string
  readonly label: string
  readonly button?: Ref<HTMLButtonElement>
}

function Copy({ text, label, button }: CopyProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="default" ref={button ?? null} onClick={copy}>
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  )
}
